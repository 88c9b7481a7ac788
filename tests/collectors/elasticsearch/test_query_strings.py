"""Labels in a query string become document fields; everything else is unchanged."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collectors.sources.elasticsearch.queries.query_strings import escape_query, in_fields, quote_query

FIELDS = {"node": ("k.node", "host"), "pod": ("k.pod",), "job": ("labels.a/b",)}


@pytest.mark.parametrize(
    ("match", "expected"),
    [
        ("pod:a", "k.pod:a"),
        ("node:a", "(k.node:a OR host:a)"),
        ("NOT node:a AND pod:b", "NOT (k.node:a OR host:a) AND k.pod:b"),
        ("-node:a", "-(k.node:a OR host:a)"),
        ('node:"a b" x', '(k.node:"a b" OR host:"a b") x'),
        (r'pod:"a \" node:b"', r'k.pod:"a \" node:b"'),
        ("node:(a OR (b AND c)) d", "(k.node:(a OR (b AND c)) OR host:(a OR (b AND c))) d"),
        ("(node:a)", "((k.node:a OR host:a))"),
        ("node:[1 TO 2}", "(k.node:[1 TO 2} OR host:[1 TO 2})"),
        ("node:a^2 b", "(k.node:a^2 OR host:a^2) b"),
        ('node:"a b"^2 b', '(k.node:"a b"^2 OR host:"a b"^2) b'),
        (r"node:a\ b c", r"(k.node:a\ b OR host:a\ b) c"),
        ("node:/a b/ c", "(k.node:/a b/ OR host:/a b/) c"),
        ("_exists_:node", "(_exists_:k.node OR _exists_:host)"),
        ("_exists_:pod", "_exists_:k.pod"),
        ("_exists_:other", "_exists_:other"),
        ("job:x", r"labels.a\/b:x"),
        ("_exists_:job", r"_exists_:labels.a\/b"),
        ("my.pod:a", "my.pod:a"),
        ("mypod:a", "mypod:a"),
        ("pod: a", "pod: a"),
        ("pod", "pod"),
        (r"pod\:a", r"pod\:a"),
        ('"pod:a"', '"pod:a"'),
        ("x:pod:a", "x:pod:a"),
        ("", ""),
        ("pod:", "pod:"),
        ('pod:"open', 'k.pod:"open'),
        ("pod:(open", "k.pod:(open"),
        ("pod:a\\", "k.pod:a\\"),
    ],
)
def test_labels_become_fields(match: str, expected: str) -> None:
    assert in_fields(match, FIELDS) == expected


@given(st.text(alphabet='ab:()[]{}"/\\ ^~*?-+!nodepjx_', max_size=40))
def test_a_query_without_labels_is_unchanged(match: str) -> None:
    assert in_fields(match, {}) == match


@given(st.text(alphabet='ab:()[]{}"/\\ ^~*?-+!', max_size=30).map(lambda tail: f"node:{tail}"))
def test_any_query_is_rewritten_without_failing(match: str) -> None:
    assert isinstance(in_fields(match, FIELDS), str)


@given(st.text(min_size=1, max_size=40))
def test_an_escaped_or_quoted_value_contains_no_label(value: str) -> None:
    sneaky = f"{value} node:x"
    assert "k.node" not in in_fields(quote_query(sneaky), FIELDS)
    assert "k.node" not in in_fields(escape_query(sneaky), FIELDS)
