"""Templates render as in Prometheus, within limits."""

from datetime import UTC, datetime

import pytest

from go_templates import TemplateSample, humanize_duration, humanize_percentage, parse
from go_templates.tests.rendered import LABELS, RENDERED, VALUE


def render(text: str) -> str:
    return parse(text).render(labels=LABELS, value=VALUE)


@pytest.mark.parametrize(("text", "rendered"), RENDERED.items(), ids=RENDERED)
def test_a_template_renders_as_in_prometheus(text: str, rendered: str) -> None:
    assert render(text) == rendered


@pytest.mark.parametrize(
    ("value", "rendered"),
    [
        (float("nan"), "NaN NaN NaN"),
        (float("inf"), "+Inf +Inf +Inf"),
        (float("-inf"), "-Inf -Inf -Inf"),
        (0.0, "0 0 0"),
        (-0.0, "-0 -0 -0"),
        (21.0, "21 21 21"),
        (1e21, "1e+21 1Z 1e+21"),
        (123456.0, "123456 123.5k 123456"),
    ],
)
def test_special_values_are_formatted_as_in_go(value: float, rendered: str) -> None:
    shown = parse('{{ $value }} {{ humanize $value }} {{ printf "%g" $value }}').render(
        labels={}, value=value
    )

    assert shown == rendered


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{{ gt $value 90 }}", "incompatible types for comparison: float64 and int"),
        ("{{ humanize $labels.gpu | humanize }}{{ humanize $labels.job }}", 'parsing "dcgm": invalid syntax'),
        ("{{ .Nope }}", "can't evaluate field Nope"),
        ("{{ toUpper 3 }}", "expected string; found 3"),
        ("{{ toUpper $value }}", "wrong type for value; expected string; got float64"),
        ("{{ humanize }}", "wrong number of args for humanize: want 1 got 0"),
        ("{{ nil }}", "nil is not a command"),
        ("{{ $value 1 }}", "can't give argument to non-function"),
        ('{{ template "x" }}', 'template "x" not defined'),
        ('{{ index "abc" 5 }}', "index out of range: 5"),
        ('{{ match "(" "a" }}', "regexp: Compile(`(`)"),
        ('{{ match "a(?=b)" "a" }}', "regexp: Compile"),
        ('{{ parseDuration "soon" }}', 'not a valid duration string: "soon"'),
        ("{{ toTime 1e300 }}", "cannot be represented"),
        ('{{ query "up" }}', "`query` is not available here"),
        ("{{ now }}", "`now` is not available here"),
    ],
)
def test_a_render_error_is_shown_inline(text: str, message: str) -> None:
    rendered = render("before " + text)

    assert rendered.startswith("<error expanding template: 1:")
    assert message in rendered


@pytest.mark.parametrize(
    "text",
    [
        '{{ define "a" }}{{ template "a" . }}{{ end }}{{ template "a" . }}',
        '{{ $x := "aaaaaaaaaa" }}{{ range 100 }}{{ $x = print $x $x }}{{ end }}',
        "{{ range 1000 }}{{ range 1000 }}{{ range 1000 }}{{ end }}{{ end }}{{ end }}",
        "{{ range 9000000000000000000 }}x{{ end }}",
        '{{ printf "%1000000d%1000000d%1000000d" 1 2 3 }}',
        '{{ $x := printf "%4000s" "" }}{{ reReplaceAll "" (printf "%4000s" "") $x }}',
    ],
    ids=[
        "endless recursion",
        "a doubling text",
        "loops in loops",
        "a loop of quintillions",
        "padding",
        "replacements that multiply the text",
    ],
)
def test_exceeding_a_limit_is_an_error(text: str) -> None:
    rendered = render(text)

    assert rendered.startswith("<error expanding template:")
    assert len(rendered) < 500


def test_a_query_in_a_template_calls_the_given_function() -> None:
    queries: list[str] = []

    def query(text: str) -> list[TemplateSample]:
        queries.append(text)
        return [TemplateSample(labels={"gpu": name}, value=float(name)) for name in "21"]

    text = (
        '{{ range query "up" | sortByLabel "gpu" }}{{ .Labels.gpu }}={{ .Value }} {{ end }}'
        '{{ with query "down" }}{{ . | first | label "gpu" }} {{ first . | value }}{{ end }}'
    )

    rendered = parse(text).render(labels={}, value=0, query=query)

    assert rendered == "1=1 2=2 2 2"
    assert queries == ["up", "down"]


def test_external_values_are_given_by_the_caller() -> None:
    text = "{{ externalURL }} {{ pathPrefix }} {{ $externalURL }} {{ $externalLabels.dc }} {{ now }}"

    rendered = parse(text).render(
        labels={},
        value=0,
        external_url="https://prom.example/p/",
        external_labels={"dc": "x"},
        now=datetime(2019, 1, 1, tzinfo=UTC),
    )

    assert rendered == "https://prom.example/p/ /p/ https://prom.example/p/ x 1.5463008e+09"


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("90s", "90"),
        ("1h30m", "5400"),
        ("1y2w3d", "3.30048e+07"),
        ("1500ms", "1.5"),
        ("0", "0"),
        ("1d1ms", "86400.001"),
    ],
)
def test_a_duration_is_read_as_in_prometheus(text: str, seconds: str) -> None:
    assert render(f'{{{{ parseDuration "{text}" }}}}') == seconds


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "empty duration string"),
        ("1m1h", "not a valid duration string"),
        ("-5m", "not a valid duration string"),
        ("293y", "duration out of range"),
    ],
)
def test_what_is_not_a_duration_in_prometheus_is_an_error(text: str, reason: str) -> None:
    assert reason in render(f'{{{{ parseDuration "{text}" }}}}')


def test_a_lone_surrogate_in_a_label_does_not_raise() -> None:
    shown = parse('{{ match "a" $labels.x }}{{ reReplaceAll "a" "b" $labels.x }}').render(
        labels={"x": "a\ud800"}, value=0
    )

    assert shown == "trueb?"


def test_two_formats_are_functions_too() -> None:
    assert (humanize_duration(5400.0), humanize_percentage(0.125)) == ("1h 30m 0s", "12.5%")


def test_only_a_template_without_actions_is_plain() -> None:
    assert parse("up {{/* really */}}").is_plain
    assert not parse("up {{ $value }}").is_plain
