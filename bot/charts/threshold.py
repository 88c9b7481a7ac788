"""What of a rule's expression is drawn: the measured side of its comparison, and the threshold on the other side."""

from dataclasses import dataclass
from functools import lru_cache

import promql_parser

_COMPARISONS = frozenset({">", "<", ">=", "<=", "==", "!="})
_MIRRORED = {">": "<", "<": ">", ">=": "<=", "<=": ">="}
_CONDITIONS = frozenset({"and", "unless"})  # what follows them chooses series and measures nothing
_COUNTS = frozenset({"count", "count_values", "group"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawn:
    """An expression to draw. `comparison`: how its value is compared with the threshold when the alert is active.

    `is_count`: it counts series, and has no value where none is counted.
    """

    expr: str
    threshold: float | None = None
    comparison: str = ""
    is_count: bool = False


@lru_cache(maxsize=1024)
def drawn(expr: str) -> Drawn:
    """Return what to draw of a valid PromQL expression: all of it, where it is no comparison with a number."""
    node = promql_parser.parse(expr)
    while True:
        if isinstance(node, promql_parser.ParenExpr):
            node = node.expr
        elif isinstance(node, promql_parser.BinaryExpr) and _operator(node) in _CONDITIONS:
            node = node.lhs
        else:
            break
    if not isinstance(node, promql_parser.BinaryExpr) or _operator(node) not in _COMPARISONS:
        return Drawn(expr=expr)
    operator = _operator(node)
    measured, compared = node.lhs, node.rhs
    if _number(measured) is not None:
        measured, compared, operator = compared, measured, _MIRRORED.get(operator, operator)
    text = _text(measured)
    if text is None or _number(measured) is not None:
        return Drawn(expr=expr)
    threshold = _number(compared)
    is_count = isinstance(measured, promql_parser.AggregateExpr) and str(measured.op) in _COUNTS
    return Drawn(
        expr=text,
        threshold=threshold,
        comparison=operator if threshold is not None else "",
        is_count=is_count,
    )


def _operator(node: promql_parser.BinaryExpr) -> str:
    return str(node.op).strip()


def _number(node: promql_parser.Expr) -> float | None:
    """Return the value of an expression of numbers alone, such as `5 * 60`."""
    match node:
        case promql_parser.NumberLiteral():
            return float(node.val)
        case promql_parser.ParenExpr():
            return _number(node.expr)
        case promql_parser.BinaryExpr():
            left, right = _number(node.lhs), _number(node.rhs)
            return None if left is None or right is None else _result(_operator(node), left, right)
        case _:
            return None


def _result(operator: str, left: float, right: float) -> float | None:
    match operator:
        case "+":
            return left + right
        case "-":
            return left - right
        case "*":
            return left * right
        case "/" if right:
            return left / right
    return None


def _text(node: promql_parser.Expr) -> str | None:
    """Return the node as PromQL. None where the parser would not read what it writes: it escapes nothing in strings."""
    written = str(node)
    if "\\" in written:
        return None
    try:
        return written if str(promql_parser.parse(written)) == written else None
    except ValueError:
        return None
