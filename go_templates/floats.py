"""Floats formatted as by Go's strconv: %e, %f, %g, with a precision or as short as possible."""

import math
from decimal import Decimal

SHORTEST_PRECISION = -1
_PLAIN_UP_TO = 6  # where the shortest %g switches to an exponent: 1e+06


def format_float(value: float, verb: str, precision: int) -> str:
    """Format a float for `verb` (e, E, f, g, G), without padding; only negative values have a sign.

    Infinity always has its sign, as in Go: +Inf.
    """
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "+Inf" if value > 0 else "-Inf"
    sign = "-" if math.copysign(1, value) < 0 else ""
    text = (
        _shortest(abs(value), verb.lower())
        if precision == SHORTEST_PRECISION
        else _fixed(abs(value), verb, precision)
    )
    return sign + (text.upper() if verb in "EG" else text)


def _fixed(value: float, verb: str, precision: int) -> str:
    return f"{value:.{max(precision, 1) if verb in 'gG' else precision}{verb.lower()}}"


def _shortest(value: float, verb: str) -> str:
    """Format with the fewest digits that parse back to the value: Python and Go find the same digits."""
    _, digits, exponent = Decimal(repr(value)).as_tuple()
    text = "".join(map(str, digits))
    point = len(text) + int(exponent)  # the decimal point's position among the digits
    text = text.rstrip("0") or "0"
    if value == 0:
        point = 1
    if verb == "e" or (verb == "g" and not -4 <= point - 1 < _PLAIN_UP_TO):
        tail = f".{text[1:]}" if len(text) > 1 else ""
        return f"{text[0]}{tail}e{'-' if point < 1 else '+'}{abs(point - 1):02d}"
    whole = text[:point].ljust(point, "0") if point > 0 else "0"
    part = "0" * max(-point, 0) + text[max(point, 0) :]
    return f"{whole}.{part}" if part else whole
