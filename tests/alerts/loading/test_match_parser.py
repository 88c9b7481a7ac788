"""The neutral grammar of matches: what it means, what it refuses, and that a tree survives its text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alerts.loading.match_parser import DEEPEST, LONGEST, MOST_PHRASES, MatchError, parse_match
from collectors.facts.log_match import (
    EVERY_LINE,
    AllOf,
    AnyOf,
    FieldPhrase,
    LogMatch,
    Not,
    phrases_in,
    render_match,
)
from tests.support.log_matches import message

A, B, C = message("a"), message("b c"), FieldPhrase(field="kubernetes.labels.k8s-app", text="x")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("message:a", A),
        ('message:"b c"', B),
        ('kubernetes.labels.k8s-app:"x"', C),
        ('@timestamp:"x"', FieldPhrase(field="@timestamp", text="x")),
        ("message:a AND kubernetes.labels.k8s-app:x", AllOf(parts=(A, C))),
        ('message:a OR message:"b c" OR message:a', AnyOf(parts=(A, B, A))),
        ('message:a AND NOT message:"b c"', AllOf(parts=(A, Not(part=B)))),
        (
            'NOT (message:a OR message:"b c") AND message:a',
            AllOf(parts=(Not(part=AnyOf(parts=(A, B))), A)),
        ),
        ("((message:a))", A),
        ("  message:a\n  AND(message:a)", AllOf(parts=(A, A))),
        (r'message:"say \"no\" to C:\\x"', message(r'say "no" to C:\x')),
        (r'message:"a\/b"', message("a/b")),
        ('message:"AND OR NOT ( )"', message("AND OR NOT ( )")),
        ('message:"a* OR b?"', message("a* OR b?")),
        ("message:失败", message("失败")),
        ("message:AND", message("AND")),
        ("*", EVERY_LINE),
        (" * ", EVERY_LINE),
    ],
)
def test_a_text_is_read(text: str, expected: LogMatch) -> None:
    assert parse_match(text) == expected


@pytest.mark.parametrize(
    ("text", "position", "reason"),
    [
        ("error", 0, 'name the field: message:"error"'),
        ('"i/o timeout"', 0, 'name the field: message:"i/o timeout"'),
        ("message:(a OR b)", 8, "name the field for each value"),
        ("pod:detr-worker-0", 4, 'put it into quotes: pod:"detr-worker-0"'),
        (r"message:\/var\/lib", 8, 'put it into quotes: message:"/var/lib"'),
        ("message:err*", 11, "a wildcard is Elasticsearch's own: write it as `elasticsearch: '…'`"),
        ("message:superbl?ck", 15, "a wildcard is Elasticsearch's own"),
        ("message:*", 8, "a wildcard is Elasticsearch's own"),
        ("*:*", 0, "a wildcard is Elasticsearch's own"),
        ("message:/e.*r/", 8, "a regular expression is Elasticsearch's own"),
        ('message:"a b"~2', 13, "a fuzzy match is Elasticsearch's own"),
        ("message:a~", 9, "a fuzzy match is Elasticsearch's own"),
        ("message:a^2", 9, "a weight is Elasticsearch's own"),
        ("offset:>=5", 7, "a range is Elasticsearch's own"),
        ("offset:[5 TO 7]", 7, "a range is Elasticsearch's own"),
        ("_exists_:level", 0, "`_exists_` is Elasticsearch's own"),
        ("-message:a", 0, "write `NOT` for `-`"),
        ("!message:a", 0, "write `NOT` for `!`"),
        ("message:a && message:b", 10, "write `AND` for `&&`"),
        ("message:a || message:b", 10, "write `OR` for `||`"),
        ("message:a and message:b", 10, "write `AND` for `and`"),
        ("message:a message:b", 10, "`AND` or `OR` is missing before `message:b`"),
        ("message:a NOT message:b", 10, "`AND` or `OR` is missing before `NOT`"),
        ("message:a AND message:b OR message:c", 24, "AND and OR are mixed: put parentheses"),
        ("message:a AND", 13, "is missing at the end"),
        ("AND message:a", 0, "is missing before `AND`"),
        ("message:a OR OR message:b", 13, "is missing before `OR`"),
        ("()", 1, "is missing before this `)`"),
        ("(message:a", 0, "this `(` is not closed"),
        ("message:a)", 9, "this `)` closes nothing"),
        ('message:"open', 8, "this quote is not closed"),
        ('message:"a"b', 11, "a blank is missing here"),
        ("message:", 8, "the value is missing"),
        ('message:""', 0, "the phrase of `message` has no word"),
        ('message:"…"', 0, "the phrase of `message` has no word"),
        ("", 0, "is missing at the end"),
        ("message:a AND *", 14, "a wildcard is Elasticsearch's own"),
    ],
)
def test_what_is_not_of_the_grammar_is_refused_with_what_to_write(
    text: str, position: int, reason: str
) -> None:
    with pytest.raises(MatchError) as refused:
        parse_match(text)

    assert reason in str(refused.value)
    assert refused.value.position == position


@pytest.mark.parametrize(
    "text",
    [
        "message:a" + "a" * LONGEST,
        "(" * (DEEPEST + 2) + "message:a" + ")" * (DEEPEST + 2),
        "NOT " * (DEEPEST + 2) + "message:a",
        " OR ".join(["message:a"] * (MOST_PHRASES + 1)),
    ],
    ids=["long", "deep", "many NOTs", "many phrases"],
)
def test_a_match_has_a_limit(text: str) -> None:
    with pytest.raises(MatchError):
        parse_match(text)


HOSTILE = st.text(alphabet='ab"\\ ()*?:/~^[]{}<>+-!&|\n\t，失AND', min_size=1, max_size=20)
PHRASES = st.builds(
    lambda field, text, word: FieldPhrase(field=field, text=text + word),
    st.sampled_from(["message", "pod", "kubernetes.labels.k8s-app", "@timestamp", "labels.a/b"]),
    HOSTILE,
    st.sampled_from(["x", "失", "7", 'q"']),
)
MATCHES = st.recursive(
    PHRASES,
    lambda inner: st.one_of(
        st.builds(lambda part: Not(part=part), inner),
        st.builds(lambda parts: AllOf(parts=tuple(parts)), st.lists(inner, min_size=2, max_size=4)),
        st.builds(lambda parts: AnyOf(parts=tuple(parts)), st.lists(inner, min_size=2, max_size=4)),
    ),
    max_leaves=12,
)


@given(MATCHES)
def test_a_tree_survives_its_text(match: LogMatch) -> None:
    assert parse_match(render_match(match)) == match


@given(st.text(alphabet='ab:()[]{}"/\\ ^~*?-+!ANDORTmessage', max_size=40))
def test_any_text_is_read_or_refused_at_a_place_in_it(text: str) -> None:
    match, position = read(text)

    assert match is None or parse_match(render_match(match)) == match
    assert 0 <= position <= len(text)


def read(text: str) -> tuple[LogMatch | None, int]:
    try:
        return parse_match(text), 0
    except MatchError as error:
        return None, error.position


def test_the_phrases_of_a_match_are_in_order() -> None:
    assert phrases_in(parse_match('message:a AND NOT (message:"b c" OR message:a)')) == (A, B, A)
