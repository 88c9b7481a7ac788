"""The parts of a rule's expression that are drawn: the measured side of its comparison, and the threshold."""

from dataclasses import dataclass
from functools import lru_cache

from collectors.facts.promql.grammar import COMPARISONS, parse
from collectors.facts.promql.tree import Binary, Call, Group, Number, Part

_MIRRORED = {">": "<", "<": ">", ">=": "<=", "<=": ">="}
_CONDITIONS = ("and", "unless")  # what follows them chooses series and measures nothing
_COUNTS = ("count", "count_values", "group")


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
    """Return what to draw of a valid PromQL expression: all of it, where it is not a comparison with a number."""
    whole = node = parse(expr)
    while (isinstance(node, Group) and not node.sign) or (
        isinstance(node, Binary) and node.operator in _CONDITIONS
    ):
        node = node.inner[0]
    if isinstance(node, Binary) and node.operator in COMPARISONS:
        (measured, compared), operator = node.inner, node.operator
        if _number(measured) is not None:
            measured, compared, operator = compared, measured, _MIRRORED.get(operator, operator)
        if _number(measured) is None:
            threshold = _number(compared)
            return Drawn(
                expr=expr[measured.start : measured.end],
                threshold=threshold,
                comparison=operator if threshold is not None else "",
                is_count=isinstance(measured, Call) and measured.name in _COUNTS,
            )
    return Drawn(expr=expr[whole.start : whole.end])  # without a comment at its end


def _number(node: Part) -> float | None:
    """Return the value of an expression of numbers alone, such as `5 * 60`."""
    match node:
        case Number(value=value):
            return value
        case Group(inner=(one,)):
            inner = _number(one)
            return -inner if inner is not None and node.sign == "-" else inner
        case Binary(inner=(left, right)):
            first, second = _number(left), _number(right)
            return None if first is None or second is None else _result(node.operator, first, second)
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
