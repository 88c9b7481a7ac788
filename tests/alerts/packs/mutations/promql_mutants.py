"""Small mistakes in a PromQL expression, each made in the parsed tree: what a good test of its rule has to notice."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import promql_parser

_FLIPPED = {">": "<", "<": ">", ">=": "<=", "<=": ">=", "==": "!=", "!=": "=="}

Change = Callable[
    [promql_parser.Expr], str | None
]  # from a node to the text in its place; None: this node stays


@dataclass(frozen=True, slots=True)
class Mutant:
    """`mutation` says what was changed, and is unique for the expression; `expr` is the changed one."""

    mutation: str
    expr: str


def printed(expr: str) -> str:
    """Return the expression as the parser prints it: what every mutant differs from by its mutation only."""
    return str(_parsed(expr))


def promql_mutants(expr: str) -> Iterator[Mutant]:
    """Return the expression with one threshold, one comparison or one label of a `by` changed."""
    nodes: list[promql_parser.Expr] = []
    promql_parser.walk(_parsed(expr), pre_visit=lambda node: nodes.append(node))
    binary = [node for node in nodes if isinstance(node, promql_parser.BinaryExpr)]
    comparisons = [node for node in binary if _operator(node) in _FLIPPED]
    aggregations = [node for node in nodes if isinstance(node, promql_parser.AggregateExpr)]
    for number, comparison in enumerate(comparisons, 1):
        for what, text in _of_comparison(comparison):
            yield Mutant(f"comparison {number}: {what}", _replaced(expr, comparison, text, nodes))
    for number, aggregation in enumerate(aggregations, 1):
        for what, text in _of_aggregation(aggregation):
            yield Mutant(f"aggregation {number}: {what}", _replaced(expr, aggregation, text, nodes))


def _of_comparison(node: promql_parser.BinaryExpr) -> Iterator[tuple[str, str]]:
    left, right, operator = str(node.lhs), str(node.rhs), _operator(node)
    rest = (
        str(node).removeprefix(f"{left} {operator}").removesuffix(right)
    )  # `bool`, `on (…)`, `group_left (…)`
    yield f"{operator} is {_FLIPPED[operator]}", f"{left} {_FLIPPED[operator]}{rest}{right}"
    for number in dict.fromkeys((_number(node.lhs), _number(node.rhs))):
        for other in () if number is None else _others(number):
            on_left = other if number == _number(node.lhs) else left
            on_right = other if number == _number(node.rhs) else right
            yield f"{number:g} is {other:g}", f"{on_left} {operator}{rest}{on_right}"
    if _number(node.lhs) is None and _number(node.rhs) is None:  # two series: twice or half of one is as good
        for factor in ("2", "0.5"):
            yield f"the right side times {factor}", f"{left} {operator}{rest}{factor} * ({right})"


def _others(number: float) -> tuple[float, float]:
    return (number * 2, number / 2) if number else (1.0, -1.0)


def _of_aggregation(node: promql_parser.AggregateExpr) -> Iterator[tuple[str, str]]:
    modifier = node.modifier
    if modifier is None or modifier.type != promql_parser.AggModifierType.By:
        return
    head, _, body = str(node).partition(")")
    for label in modifier.labels:
        kept = ", ".join(one for one in modifier.labels if one != label)
        yield f"without {label}", f"{head.partition('(')[0]}({kept}){body}"


def _replaced(expr: str, node: promql_parser.Expr, text: str, nodes: list[promql_parser.Expr]) -> str:
    """Return the expression with the text in the place of the node, which is one of the nodes in order."""
    place = next(number for number, one in enumerate(nodes) if one is node)
    seen = -1

    def change(_node: promql_parser.Expr) -> promql_parser.Expr | None:
        nonlocal seen
        seen += 1
        return _parsed(text) if seen == place else None

    return str(promql_parser.transform(_parsed(expr), post_visit=None, pre_visit=change))


def _number(node: promql_parser.Expr) -> float | None:
    if isinstance(node, promql_parser.ParenExpr):
        return _number(node.expr)
    return float(node.val) if isinstance(node, promql_parser.NumberLiteral) else None


def _operator(node: promql_parser.BinaryExpr) -> str:
    return str(node.op).strip()


def _parsed(expr: str) -> promql_parser.Expr:
    """Parse it so that `str` gives an expression again: the parser reads escapes in strings and prints none."""
    return promql_parser.parse(expr.replace("\\", "\\\\"))
