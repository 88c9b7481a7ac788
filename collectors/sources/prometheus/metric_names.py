"""The metrics that a PromQL expression needs."""

from collections.abc import Collection
from typing import Any

import promql_parser


def metric_names(expr: str) -> frozenset[str]:
    """Return the names of all metrics in an expression; none if it cannot be parsed."""
    found: set[str] = set()

    def visit(node: Any) -> None:
        if isinstance(node, promql_parser.VectorSelector) and (name := _name(node)):
            found.add(name)
        for inner in _children(node):
            visit(inner)

    try:
        visit(promql_parser.parse(expr))
    except ValueError:
        return frozenset()
    return frozenset(found)


def missing_metrics(expr: str, present: Collection[str]) -> frozenset[str]:
    """Return the metrics without which the expression has no result, as long as these are present.

    A metric is not needed where `or` has another, after `unless`, nor in `absent`.
    """
    try:
        return _missing(promql_parser.parse(expr), present)
    except ValueError:
        return frozenset()


def _missing(node: Any, present: Collection[str]) -> frozenset[str]:
    if isinstance(node, promql_parser.VectorSelector):
        name = _name(node)
        return frozenset({name}) if name and name not in present else frozenset()
    if isinstance(node, promql_parser.Call) and node.func.name.startswith("absent"):
        return frozenset()
    if isinstance(node, promql_parser.BinaryExpr):
        left = _missing(node.lhs, present)
        operator = str(node.op)
        if operator == "unless":
            return left
        if operator == "or":
            right = _missing(node.rhs, present)
            return left | right if left and right else frozenset()
    return frozenset().union(*(_missing(inner, present) for inner in _children(node)))


def _children(node: Any) -> list[Any]:
    inner = [getattr(node, name, None) for name in ("expr", "lhs", "rhs", "vector_selector", "param")]
    return [one for one in (*inner, *getattr(node, "args", ())) if one is not None]


def _name(selector: Any) -> str:
    if selector.name:
        return str(selector.name)
    matchers = selector.matchers.matchers
    return next(
        (one.value for one in matchers if one.name == "__name__" and str(one.op) == "MatchOp.Equal"), ""
    )
