"""The unit of a rule's value: as the rule's own sentences say it, or else as its metrics are named."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from bot.charts.line_chart import Line
from collectors.facts.promql.grammar import parse
from collectors.facts.promql.tree import Binary, Call, VectorSelector

_VALUE = re.compile(r"\{\{-? *\$value *(?:\| *(?P<function>\w+)[^}]*)?-?\}\} ?(?P<unit>%|°C|W\b)?")
_BYTES = ("_bytes", "_bytes_total")
_RATES = frozenset({"rate", "irate", "deriv"})
_SIZES = tuple((2.0**power, f"{prefix}iB") for power, prefix in ((40, "T"), (30, "G"), (20, "M"), (10, "K")))
# What people read instead of many of a unit, the largest first.
_LARGER: Mapping[str, tuple[tuple[float, str], ...]] = {
    "B": _SIZES,
    "B/s": tuple((size, f"{name}/s") for size, name in _SIZES),
    "s": ((86_400.0, "d"), (3_600.0, "h"), (60.0, "min")),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueUnit:
    """`factor`: by how much a value of the query is multiplied to be in the unit."""

    name: str = ""
    factor: float = 1.0

    def of_line(self, line: Line) -> Line:
        if self.factor == 1.0:
            return line
        return Line(name=line.name, points=tuple((at, value * self.factor) for at, value in line.points))

    def fitting(self, highest: float) -> "ValueUnit":
        """Return the unit in which a value of the query of that size is a short number."""
        for size, name in _LARGER.get(self.name, ()):
            if abs(highest) * self.factor >= 2 * size:
                return ValueUnit(name=name, factor=self.factor / size)
        return self


def value_unit(annotations: Iterable[str], expr: str) -> ValueUnit:
    """Return the unit that the first of these Go templates gives to `$value`, or else that of the metrics drawn."""
    for template in annotations:
        for found in _VALUE.finditer(template):
            if found["function"] == "humanizePercentage":
                return ValueUnit(name="%", factor=100.0)
            if found["function"] == "humanizeDuration":
                return ValueUnit(name="s")
            if found["unit"]:
                return ValueUnit(name=found["unit"])
    return ValueUnit(name=_unit_of_metrics(expr))


def _unit_of_metrics(expr: str) -> str:
    """Return the unit that the names of all metrics in an expression end with, unless it computes another one."""
    parts = [node for node, _ in parse(expr).walk()]
    names = [node.metric for node in parts if isinstance(node, VectorSelector)]
    if not names or any(isinstance(node, Binary) and node.operator in ("*", "/") for node in parts):
        return ""
    if any(isinstance(node, Call) and node.name.startswith("count") for node in parts):
        return ""
    is_rate = any(isinstance(node, Call) and node.name in _RATES for node in parts)
    if all(name.endswith(_BYTES) for name in names):
        return "B/s" if is_rate else "B"
    return "s" if all(name.endswith("_seconds") for name in names) and not is_rate else ""
