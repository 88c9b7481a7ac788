"""Numbers formatted for people, as by Prometheus' template functions."""

import math
import re

from go_templates.floats import format_float
from go_templates.printing import moment_in_words
from go_templates.quoting import quoted
from go_templates.template_errors import RenderError
from go_templates.values import GoDuration, Time, Value, type_of

_FLOAT = re.compile(
    r"[+-]?(?:(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?|inf(?:inity)?|nan|0x[0-9a-f_]*\.?[0-9a-f_]*p[+-]?\d+)",
    re.ASCII | re.I,
)
_LARGE = ("k", "M", "G", "T", "P", "E", "Z", "Y")
_LARGE_1024 = ("ki", "Mi", "Gi", "Ti", "Pi", "Ei", "Zi", "Yi")
_SMALL = ("m", "u", "n", "p", "f", "a", "z", "y")
_MILLISECONDS = {
    "y": 365 * 86_400_000,
    "w": 7 * 86_400_000,
    "d": 86_400_000,
    "h": 3_600_000,
    "m": 60_000,
    "s": 1000,
    "ms": 1,
}
_DURATION = re.compile("".join(rf"(?:(?P<{unit}>[0-9]{{1,18}}){unit})?" for unit in _MILLISECONDS))


def as_float(value: Value) -> float:
    """Convert what Prometheus accepts as a number: numbers, durations in seconds, strings. Raise RenderError."""
    if isinstance(value, str):
        text = value.replace("_", "") if value.lower().lstrip("+-").startswith("0x") else value
        if not _FLOAT.fullmatch(text):
            raise RenderError(f'strconv.ParseFloat: parsing "{value[:80]}": invalid syntax')
        number = float.fromhex(text) if "x" in text.lower() else float(text)
        if math.isinf(number) and "inf" not in text.lower():
            raise RenderError(f'strconv.ParseFloat: parsing "{value[:80]}": value out of range')
        return number
    if isinstance(value, GoDuration):
        return value.seconds
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    raise RenderError(f"can't convert {'<nil>' if value is None else type_of(value)} to float")


def _four_digits(number: float) -> str:
    return format_float(number, "g", 4)


def _scaled(number: float, names: tuple[str, ...], step: float) -> tuple[float, str]:
    prefix = ""
    for name in names:
        if abs(number) < step:
            break
        prefix, number = name, number / step
    return number, prefix


def _magnified(number: float) -> tuple[float, str]:
    prefix = ""
    for name in _SMALL:
        if abs(number) >= 1:
            break
        prefix, number = name, number * 1000
    return number, prefix


def humanize_number(value: Value) -> str:
    number = as_float(value)
    if number == 0 or not math.isfinite(number):
        return _four_digits(number)
    number, prefix = _scaled(number, _LARGE, 1000) if abs(number) >= 1 else _magnified(number)
    return _four_digits(number) + prefix


def humanize_1024(value: Value) -> str:
    number = as_float(value)
    if abs(number) <= 1 or not math.isfinite(number):
        return _four_digits(number)
    number, prefix = _scaled(number, _LARGE_1024, 1024)
    return _four_digits(number) + prefix


def humanize_duration(value: Value) -> str:
    number = as_float(value)
    if not math.isfinite(number):
        return _four_digits(number)
    if number == 0:
        return _four_digits(number) + "s"
    if abs(number) < 1:
        number, prefix = _magnified(number)
        return f"{_four_digits(number)}{prefix}s"
    sign, number = ("-", -number) if number < 0 else ("", number)
    minutes, seconds = divmod(int(min(number, 2.0**63 - 1024)), 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    if days:
        return f"{sign}{days}d {hours}h {minutes}m {seconds}s"
    if hours:
        return f"{sign}{hours}h {minutes}m {seconds}s"
    if minutes:
        return f"{sign}{minutes}m {seconds}s"
    return f"{sign}{_four_digits(number)}s"


def parsed_duration(text: str) -> float:
    """Return the seconds of a duration such as `1h30m`. Raise RenderError."""
    shape = _DURATION.fullmatch(text)
    if not text or (text != "0" and shape is None):
        raise RenderError(f"not a valid duration string: {quoted(text)}" if text else "empty duration string")
    counts = shape.groupdict() if shape is not None else {}
    milliseconds = sum(int(count) * _MILLISECONDS[unit] for unit, count in counts.items() if count)
    if milliseconds > (2**63 - 1) // 1_000_000:
        raise RenderError("duration out of range")
    return milliseconds / 1000


def humanize_percentage(value: Value) -> str:
    return _four_digits(as_float(value) * 100) + "%"


def as_time(value: Value) -> Time:
    """Return seconds since 1970 as a time, to the millisecond. Raise RenderError."""
    number = as_float(value)
    if not math.isfinite(number):
        raise RenderError("value is NaN or Inf")
    if abs(number * 1e9) > 2**63 - 1:
        raise RenderError(f"{format_float(number, 'g', -1)} cannot be represented as a nanoseconds timestamp")
    milliseconds = abs(int(number * 1e9)) // 1_000_000
    return Time(milliseconds * 1_000_000 * (-1 if number < 0 else 1))


def humanize_timestamp(value: Value) -> str:
    number = as_float(value)
    return moment_in_words(as_time(number)) if math.isfinite(number) else _four_digits(number)
