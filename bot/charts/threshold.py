"""The parts of a rule's expression that are drawn: the measured sides of its comparisons, and their thresholds."""

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

    @property
    def is_state(self) -> bool:
        """Whether it is compared with one value, such as `up == 0`: a line of such values says nothing."""
        return self.comparison in ("==", "!=")


@lru_cache(maxsize=1024)
def drawings(expr: str) -> tuple[Drawn, ...]:
    """Return what to draw of a valid PromQL expression: all of it, where it is not a comparison with a number.

    Comparisons with `or` between them, such as those of two makes of GPUs, each have a limit of their own: the first
    that has values is drawn.
    """
    whole = parse(expr)
    sides = [_drawn(one, expr) for one in _alternatives(whole)]
    if all(one is not None for one in sides):
        return tuple(filter(None, sides))
    return (Drawn(expr=expr[whole.start : whole.end]),)  # without a comment at its end


def _alternatives(node: Part) -> list[Part]:
    node = _measuring(node)
    if isinstance(node, Binary) and node.operator == "or":
        return [one for side in node.inner for one in _alternatives(side)]
    return [node]


def _measuring(node: Part) -> Part:
    """Return the part of an expression that has its values, without brackets and conditions."""
    while (isinstance(node, Group) and not node.sign) or (
        isinstance(node, Binary) and node.operator in _CONDITIONS
    ):
        node = node.inner[0]
    return node


def _drawn(node: Part, expr: str) -> Drawn | None:
    """Return the measured side of a comparison; None of any other part."""
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
    return None


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
