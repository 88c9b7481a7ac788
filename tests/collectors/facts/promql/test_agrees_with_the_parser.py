"""Our reader of PromQL and promql-parser read the same: what is accepted, and each part of it."""

from collections.abc import Callable

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from collectors.facts.promql.tokenizing import PromQLSyntaxError, tokens
from tests.collectors.facts.promql.odd_expressions import ACCEPTED, REFUSED
from tests.collectors.facts.promql.parser_tree import MeaninglessError, ours, theirs
from tests.collectors.facts.promql.written_expressions import SHARED, of_packs, of_promqltest, of_rules

_WORDS = (
    *(
        "x",
        "a:b",
        "sum",
        "by",
        "without",
        "on",
        "ignoring",
        "group_left",
        "offset",
        "bool",
        "and",
        "or",
        "unless",
    ),
    *("rate", "topk", "time", "inf", "NaN", "start", "end", "atan2", "string", "fill"),
    *("(", ")", "(", ")", "[", "]", "[5m]", "[1h:5m]", "{", "}", '{a="b"}', ",", "@", ":", "=", "=~", "!="),
    *("==", ">", "<=", "+", "-", "*", "/", "%", "^", "1", "0x1f", ".5", "1e3", "5m", "1h30m", "5x", "08"),
    *('"s"', "'s'", "`s`", '"\\""', "# note\n", "!", ".", '"'),
)


def agree(expr: str) -> bool:
    """Whether both accept the expression. Fails where they differ; what it means is not ours to judge."""
    assert "".join(token.text for token in tokens(expr)) == expr
    try:
        read = theirs(expr)
    except MeaninglessError:
        return False
    except ValueError:
        with pytest.raises(PromQLSyntaxError):
            ours(expr)
        return False
    assert ours(expr) == read
    return True


def test_on_every_expression_of_the_packs() -> None:
    assert all(list(map(agree, of_packs())))


@pytest.mark.skipif(not SHARED.exists(), reason="the shared data sets are not next to the checkout")
@pytest.mark.parametrize(("expressions", "least"), [(of_rules, 850), (of_promqltest, 1_600)])
def test_on_every_expression_that_others_wrote(expressions: Callable[[], set[str]], least: int) -> None:
    assert sum(map(agree, expressions())) > least


@pytest.mark.parametrize("expr", ACCEPTED)
def test_on_odd_expressions(expr: str) -> None:
    assert agree(expr)


@pytest.mark.parametrize("expr", REFUSED)
def test_on_what_is_not_promql(expr: str) -> None:
    assert not agree(expr)
    with pytest.raises(PromQLSyntaxError):
        ours(expr)


_LABELS = st.sampled_from(["a", "by", "offset", '"k8s.pod"', "inf"])
_MATCHER = st.tuples(
    _LABELS, st.sampled_from(["=", "!=", "=~", "!~"]), st.sampled_from(['"b"', "'|'", "`\\d`", '"é\\n}"'])
)
_SELECTORS = st.builds(
    lambda name, matchers, window, modifiers: f"{name}{{{','.join(matchers)}}}{window}{modifiers}",
    st.sampled_from(["x", "a:b", "sum", "string", "offset"]),
    st.lists(_MATCHER.map("".join), max_size=3),
    st.sampled_from(["", "", "[5m]", "[300]"]),
    st.sampled_from(["", "", " offset -1h", " @ 5 offset 1m", " @ end()"]),
)
_OPERATORS = st.sampled_from(
    [*"+-*/%^", "==", "> bool", "<", "and", "or", "unless on(a)", "AND", "atan2", "* on(a) group_left(b)"]
)
_FUNCTIONS = st.sampled_from(
    ["abs(", "sum(", "sum by (a) (", "(", "-", "+", "-(", "max without () (", "topk(2, "]
)


def _wrapped(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(
        st.builds(lambda before, one: before + one + ")" * before.count("("), _FUNCTIONS, inner).map(
            _balanced
        ),
        st.builds(lambda left, operator, right: f"{left} {operator} {right}", inner, _OPERATORS, inner),
        st.builds(lambda one: f"max_over_time({one}[1h:5m] offset 1d)", inner),
    )


def _balanced(expr: str) -> str:
    """Take back the brackets that the label list of an aggregation has closed itself."""
    return expr[: len(expr) - max(0, expr.count(")") - expr.count("("))]


@given(
    st.recursive(st.one_of(_SELECTORS, st.sampled_from(["1", "0x1F", "5m", "Inf", "vector(1)"])), _wrapped)
)
@example("-x ^ -2 ^ y")
@example("-2 ^ 2 * x")
def test_on_generated_expressions(expr: str) -> None:
    agree(expr)


@given(st.lists(st.sampled_from(_WORDS), max_size=12).map(" ".join))
def test_on_any_tokens(expr: str) -> None:
    agree(expr)


@given(st.text())
def test_tokens_of_any_text_are_the_text(text: str) -> None:
    assert "".join(token.text for token in tokens(text)) == text
