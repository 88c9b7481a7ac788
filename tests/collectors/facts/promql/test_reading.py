"""The parts of a PromQL expression, and their positions."""

import pytest

from collectors.facts.promql.grammar import parse
from collectors.facts.promql.selectors import metric_names, selectors
from collectors.facts.promql.tokenizing import (
    DEEPEST,
    MOST_OPERATORS,
    PromQLSyntaxError,
    TooComplexError,
    line_and_column,
)
from collectors.facts.promql.tree import Binary, LabelMatcher


@pytest.mark.parametrize(
    ("expr", "found"),
    [
        ("x", ["x"]),
        ("max by (x, n) (y)", ["y"]),
        ("sum(rate(x[5m])) by (n)", ["rate(x[5m])"]),
        ("rate((x[5m]))", ["rate((x[5m]))"]),
        ('x{a="}", b!~"\\"x"} offset 5m > bool 1', ['x{a="}", b!~"\\"x"} offset 5m']),
        ("x @ end() - x offset -1h", ["x @ end()", "x offset -1h"]),
        ("max_over_time(x[1h:5m])", ["x"]),
        ("quantile_over_time(0.9, x[5m] offset 1h)", ["quantile_over_time(0.9, x[5m] offset 1h)"]),
        ("x and on (a) y unless ignoring (b) group_left (c) z", ["x", "y", "z"]),
        ("vector(1) + time() # x\n+ inf", []),
        ('{__name__="x"}', []),
        ("x[5m]", []),
        ("rate(x[5m", []),
    ],
)
def test_the_selectors_of_an_expression(expr: str, found: list[str]) -> None:
    assert [expr[one.start : one.end] for one in selectors(expr)] == found


def test_what_a_selector_is_the_argument_of() -> None:
    expr = "max without (n) (rate(x[5m])) / sum(y) + topk(2, z) + count by (n) (avg without (m) (w))"
    found = {one.metric: (one.function, one.is_aggregated) for one in selectors(expr)}
    assert found == {"x": ("rate", False), "y": ("", True), "z": ("", False), "w": ("", True)}


def test_a_selector_is_rewritten_in_place_with_all_its_matchers() -> None:
    (found,) = selectors("""rate( x{"k8s.pod"='a', b=~`c`}[5m] offset 1h )""")
    more = LabelMatcher("d", "=", '"e"')
    assert found.with_("y", (*found.matchers, more)) == (
        """rate( y{"k8s.pod"='a', b=~`c`, d="e"}[5m] offset 1h )"""
    )
    assert found.with_("y", ()) == "rate( y[5m] offset 1h )"
    assert [one.text for one in found.matchers] == ["a", "c"]


def test_metrics_are_found_by_any_spelling_of_their_names() -> None:
    assert metric_names('a + {__name__="b"} * {"c.d", x="y"} or {__name__=~"e"} unless {f!=""}') == {
        "a",
        "b",
        "c.d",
    }
    assert metric_names("a +") == frozenset()


def test_each_side_of_an_operator_stands_in_the_text() -> None:
    expr = "sum by (n) (x) # note\n  / -y > bool 1 * 2"
    tree = parse(expr)
    assert isinstance(tree, Binary)
    assert [expr[one.start : one.end] for one in tree.inner] == ["sum by (n) (x) # note\n  / -y", "1 * 2"]


@pytest.mark.parametrize(
    ("expr", "what", "place"),
    [
        ("x > > 1", "unexpected `>`", (1, 5)),
        ("x >\n  1 and", "the expression ends too early", (2, 8)),
        ("sum(\n rate(x[5m])", "`(` is not closed", (1, 4)),
        ("rate(x[5m)", "unexpected `)`", (1, 10)),
        ("rate(x[5m", "`[` is not closed", (1, 7)),
        ('x{a="b}', 'unexpected `"`', (1, 5)),
        ("x[1000y]", "`1000y` is too long a duration: 100y at most", (1, 3)),
        ("x[30m1h]", "`30m1h` is not a duration: write it like 30s, 5m, 1h30m or 7d", (1, 3)),
    ],
)
def test_what_is_wrong_and_where(expr: str, what: str, place: tuple[int, int]) -> None:
    with pytest.raises(PromQLSyntaxError) as refused:
        parse(expr)
    assert (str(refused.value), line_and_column(expr, refused.value.place)) == (what, place)


@pytest.mark.parametrize("expr", ["(" * DEEPEST + "x" + ")" * DEEPEST, "x" + " + x" * MOST_OPERATORS])
def test_the_largest_expressions_are_read_and_larger_ones_are_not(expr: str) -> None:
    assert metric_names(expr) == {"x"}
    with pytest.raises(TooComplexError):
        parse(f"({expr} + x)")
