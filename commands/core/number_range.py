"""A number of a command line that may be a range: `4`, or `2..8`."""

import re
from dataclasses import dataclass
from typing import Any

import click

from collectors.facts.sentences import sentence
from commands.core.parameter_types import MAX_NAME, parameter_label

_SHAPE = re.compile(r"([0-9]{1,18})(?:\.\.([0-9]{1,18}))?", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberRange:
    """The ends of a range of whole numbers. They are equal for a number."""

    least: int
    most: int


class NumberRangeType(click.ParamType[NumberRange]):
    """A whole number, or a range of two above 0, `2..8`, of which the first is the smaller."""

    name = "number or range"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> NumberRange:
        if isinstance(value, NumberRange):
            return value
        bare = str(value).strip()
        found = _SHAPE.fullmatch(bare)
        if found is None or (found[2] and not int(found[1])):
            self.fail(
                sentence(
                    "`{parameter}` must be a whole number, such as 4, or a range, such as 2..8, and `{given}` is "
                    "neither.",
                    parameter=parameter_label(param),
                    given=bare[:MAX_NAME],
                ),
                param,
                ctx,
            )
        least, most = int(found[1]), int(found[2] or found[1])
        if least > most:
            self.fail(
                sentence(
                    "`{parameter}` must go from the smaller number to the larger, and `{given}` does not.",
                    parameter=parameter_label(param),
                    given=bare[:MAX_NAME],
                ),
                param,
                ctx,
            )
        return NumberRange(least=least, most=most)
