"""Invalid templates are rejected with a location, and no text breaks the parser."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from go_templates import TemplateError, parse


@pytest.mark.parametrize(
    ("text", "line", "column", "message"),
    [
        ("{{ nosuch }}", 1, 4, 'function "nosuch" not defined'),
        ("ab\ncd {{ $x }}", 2, 7, 'undefined variable "$x"'),
        ("{{ $value", 1, 1, "unclosed action"),
        ("{{/* x }}", 1, 3, "unclosed comment"),
        ("{{/* x */ }}", 1, 10, "comment ends before closing delimiter"),
        ('{{ "a }}', 1, 4, "unterminated quoted string"),
        ("{{ `a }}", 1, 4, "unterminated raw quoted string"),
        ("{{ ($value }}", 1, 12, "unclosed left paren"),
        ("{{ $value) }}", 1, 10, "unexpected right paren"),
        ("{{ }}", 1, 4, "missing value for command"),
        ("{{ if }}x{{ end }}", 1, 7, "missing value for if"),
        ("{{ end }}", 1, 1, "unexpected"),
        ("{{ if true }}x", 1, 15, "no {{end}}"),
        ("{{ if true }}{{ else }}{{ else }}{{ end }}", 1, 34, "expected end"),
        ("{{ continue }}", 1, 4, "{{continue}} outside {{range}}"),
        ("{{ 1 | 2 }}", 1, 8, "non executable command in pipeline stage 2"),
        ("{{ 08 }}", 1, 4, "bad number syntax"),
        ("{{ 1x }}", 1, 4, "bad number syntax"),
        ("{{ '' }}", 1, 4, "malformed character constant"),
        ('{{ "\\z" }}', 1, 4, "invalid syntax"),
        ("{{ $labels.a-b }}", 1, 13, "bad character"),
        ("{{ “x” }}", 1, 4, "unrecognized character"),
        ("{{ nil.x }}", 1, 4, "unexpected . after term"),
        ('{{ define "a" }}{{ $value }}{{ end }}', 1, 20, 'undefined variable "$value"'),
        ('{{ if true }}{{ define "a" }}{{ end }}{{ end }}', 1, 17, "unexpected `define`"),
        ('{{ define "a" }}1{{ end }}{{ define "a" }}2{{ end }}', 1, 43, "multiple definition"),
        ("{{ $a, $b := $labels }}", 1, 4, "too many declarations in command"),
        ('{{ tmpl "x" . }}', 1, 4, 'function "tmpl" not defined'),
        ("{{ " + "(" * 60 + "1" + ")" * 60 + " }}", 1, 55, "nested deeper"),
    ],
)
def test_an_error_is_reported_with_its_position(text: str, line: int, column: int, message: str) -> None:
    with pytest.raises(TemplateError) as caught:
        parse(text)

    assert message in caught.value.what
    assert (caught.value.line, caught.value.column) == (line, column)


PIECES = st.sampled_from(
    [
        *(
            "{{",
            "}}",
            "{{-",
            "-}}",
            " ",
            "\n",
            "|",
            "(",
            ")",
            ".",
            ",",
            ":=",
            "=",
            '"',
            "`",
            "'",
            "\\",
            "/*",
            "*/",
        ),
        *(
            "if",
            "else",
            "end",
            "range",
            "with",
            "define",
            "template",
            "block",
            "break",
            "continue",
            "nil",
            "true",
        ),
        *(
            "$labels",
            "$value",
            "$x",
            ".Labels",
            ".a",
            "printf",
            '"%v"',
            "humanize",
            "and",
            "index",
            "eq",
            "len",
        ),
        *("0", "1.5", "0x1p-2", "-3", '"s"', "é", "\x00"),
    ]
)


@given(st.lists(PIECES, max_size=25).map(" ".join) | st.lists(PIECES, max_size=25).map("".join) | st.text())
def test_any_text_is_a_template_or_a_template_error(text: str) -> None:
    try:
        template = parse(text)
    except TemplateError as error:
        position = (error.line, error.column)
        rendered = error.what
    else:
        position = (1, 1)
        rendered = template.render(labels={"a": "b"}, value=1.5)

    assert min(position) >= 1
    assert isinstance(rendered, str)


@given(st.text(alphabet=st.characters(exclude_characters="{")))
def test_a_text_without_actions_renders_to_itself(text: str) -> None:
    assert parse(text).render(labels={}, value=0) == text


@given(st.text(max_size=30), st.floats())
def test_labels_and_values_cannot_break_a_template(label: str, value: float) -> None:
    text = (
        '{{ $labels.a | toUpper | title | stripPort | stripDomain | html | js | urlquery | printf "%q %x" }}'
        "{{ $value | humanize }}{{ humanizeDuration $value }}{{ humanizeTimestamp $value }}"
        "{{ match $labels.a $labels.a }}"
    )

    assert isinstance(parse(text).render(labels={"a": label}, value=value), str)
