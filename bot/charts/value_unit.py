"""The unit of a rule's value, as the rule's own sentences say it, so that its chart says the same."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from bot.charts.line_chart import Line

_VALUE = re.compile(r"\{\{-? *\$value *(?:\| *(?P<function>\w+)[^}]*)?-?\}\} ?(?P<unit>%|°C|W\b)?")


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueUnit:
    """`factor`: by how much a value of the query is multiplied to be in the unit."""

    name: str = ""
    factor: float = 1.0

    def of_line(self, line: Line) -> Line:
        if self.factor == 1.0:
            return line
        return Line(name=line.name, points=tuple((at, value * self.factor) for at, value in line.points))


def value_unit(annotations: Iterable[str]) -> ValueUnit:
    """Return the unit that the first of these Go templates gives to `$value`."""
    for template in annotations:
        for found in _VALUE.finditer(template):
            if found["function"] == "humanizePercentage":
                return ValueUnit(name="%", factor=100.0)
            if found["function"] == "humanizeDuration":
                return ValueUnit(name="s")
            if found["unit"]:
                return ValueUnit(name=found["unit"])
    return ValueUnit()
