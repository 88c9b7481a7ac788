"""Values formatted as by Go's fmt: Print, Println, Printf."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from go_templates.floats import SHORTEST_PRECISION, format_float
from go_templates.quoting import quoted, quoted_character
from go_templates.template_errors import RenderError
from go_templates.values import AlertData, GoDuration, TemplateSample, Time, Value, type_of

LARGEST_NUMBER = 1_000_000  # maximum width or precision, as in Go
MAX_OUTPUT = 256 * 1024  # characters per call; Go has no such limit


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """Flags, width and precision of a verb."""

    flags: str = ""
    width: int | None = None
    precision: int | None = None

    def padded(self, text: str, *, zeros: bool = False) -> str:
        if self.width is None:
            return text
        if "-" in self.flags:
            return text.ljust(self.width)
        if zeros and "0" in self.flags:
            sign = text[:1] if text[:1] in ("+", "-", " ") else ""
            return sign + text[len(sign) :].rjust(self.width - len(sign), "0")
        return text.rjust(self.width)

    def signed(self, text: str) -> str:
        if text.startswith("-"):
            return text
        return next((sign for sign in "+ " if sign in self.flags), "") + text


PLAIN = Shape()


def format_value(value: Value, verb: str = "v", shape: Shape = PLAIN, *, depth: int = 0) -> str:
    """Format a value for a verb; a wrong type is shown as in Go: `%!d(string=hi)`."""
    text: str | None = None
    match value:
        case None:
            text = shape.padded("<nil>") if verb == "v" else None
        case bool():
            text = shape.padded("true" if value else "false") if verb in "tv" else None
        case str():
            text = _string(value, verb, shape)
        case int():
            text = _integer(value, verb, shape)
        case float():
            text = _float(value, verb, shape)
        case complex():
            both = replace(shape, flags=shape.flags + "+")
            text = f"({_float(value.real, verb, shape)}{_float(value.imag, verb, both)}i)"
        case Time():
            text = _string(moment_in_words(value), verb, shape)
        case GoDuration():
            text = _string(span_in_words(value), verb, shape) if verb != "d" else str(value.nanoseconds)
        case TemplateSample() | AlertData() | Mapping() | Sequence():
            text = _composed(value, verb, shape, depth)
        case _:
            text = None
    return f"%!{verb}({typed(value, shape)})" if text is None else text


def typed(value: Value, shape: Shape = PLAIN) -> str:
    """Format a value with its type, as errors show it: `string=hi`."""
    return "<nil>" if value is None else f"{type_of(value)}={format_value(value, 'v', shape)}"


def _composed(value: Value, verb: str, shape: Shape, depth: int) -> str:
    def inner(part: Value) -> str:
        return format_value(part, verb, shape, depth=depth + 1)

    match value:
        case TemplateSample():
            # Go prints the address of a sample within a vector; its contents are more useful and do not change.
            return f"{'&' if depth == 0 else ''}{{{inner(dict(value.labels))} {inner(value.value)}}}"
        case AlertData():
            parts = (value.labels, value.external_labels, value.external_url, value.value)
            return "{" + " ".join(inner(part) for part in parts) + "}"
        case Mapping():
            return "map[" + " ".join(f"{inner(name)}:{inner(value[name])}" for name in sorted(value)) + "]"
        case _:
            return "[" + " ".join(inner(part) for part in value) + "]"


def _string(value: str, verb: str, shape: Shape) -> str | None:
    if verb in "xX":
        raw = value.encode("utf-8", "replace")[: shape.precision]
        hexadecimal = raw.hex(" ") if " " in shape.flags else raw.hex()
        return shape.padded(hexadecimal.upper() if verb == "X" else hexadecimal, zeros=True)
    if verb == "q" or (verb == "v" and "#" in shape.flags):
        return shape.padded(
            quoted(value[: shape.precision], raw="#" in shape.flags and verb == "q"), zeros=True
        )
    return shape.padded(value[: shape.precision], zeros=True) if verb in "vs" else None


def _integer(value: int, verb: str, shape: Shape) -> str | None:
    if verb in "cqU":
        character = chr(value) if 0 <= value <= 0x10FFFF and not 0xD800 <= value < 0xE000 else "\ufffd"
        if verb == "U":
            return shape.padded(f"U+{value:04X}" + (f" '{character}'" if "#" in shape.flags else ""))
        return shape.padded(character if verb == "c" else quoted_character(character))
    digits = {"v": "d", "d": "d", "b": "b", "o": "o", "O": "o", "x": "x", "X": "X"}.get(verb)
    if digits is None:
        return None
    text = format(abs(value), digits).rjust(shape.precision or 0, "0")
    if shape.precision == 0 and value == 0:
        text = ""
    if verb == "O" or ("#" in shape.flags and digits != "d"):
        text = {"b": "0b", "o": "0o" if verb == "O" else "0", "x": "0x", "X": "0X"}[digits] + text
    text = shape.signed(("-" if value < 0 else "") + text)
    return shape.padded(text, zeros=shape.precision is None)


def _float(value: float, verb: str, shape: Shape) -> str | None:
    if verb not in "vgGeEfF":
        return None
    standard = SHORTEST_PRECISION if verb in "vgG" else 6
    precision = standard if shape.precision is None else shape.precision
    text = format_float(value, {"v": "g", "F": "f"}.get(verb, verb), precision)
    if text == "+Inf":
        text = text if "+" in shape.flags else shape.signed("Inf") if " " in shape.flags else "+Inf"
    else:
        text = shape.signed(text)
    return shape.padded(text, zeros=not text.endswith(("Inf", "NaN")))


def moment_in_words(moment: Time) -> str:
    """Format a time as time.Time's String: `2019-01-01 00:00:00.5 +0000 UTC`."""
    seconds, fraction = divmod(moment.nanoseconds, 1_000_000_000)
    when = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=seconds)
    part = f".{fraction:09d}".rstrip("0") if fraction else ""
    return f"{when:%Y-%m-%d %H:%M:%S}{part} +0000 UTC"


def span_in_words(span: GoDuration) -> str:
    """Format a duration as time.Duration's String: `1h30m0s`, `1.5s`, `20ms`."""
    rest, sign = abs(span.nanoseconds), "-" if span.nanoseconds < 0 else ""
    if rest == 0:
        return "0s"
    if rest < 1_000_000_000:
        unit, size = next(pair for pair in (("ns", 1), ("µs", 1000), ("ms", 10**6)) if rest < pair[1] * 1000)
        return f"{sign}{_decimal(rest, size)}{unit}"
    minutes, nanoseconds = divmod(rest, 60 * 10**9)
    hours, minutes = divmod(minutes, 60)
    whole = (f"{hours}h" if hours else "") + (f"{minutes}m" if hours or minutes else "")
    return f"{sign}{whole}{_decimal(nanoseconds, 10**9)}s"


def _decimal(count: int, size: int) -> str:
    whole, part = divmod(count, size)
    return f"{whole}.{part:0{len(str(size)) - 1}d}".rstrip("0") if part else str(whole)


def bounded(text: str) -> str:
    """Return the text. Raise RenderError if it exceeds the limit of a call."""
    if len(text) > MAX_OUTPUT:
        raise RenderError(f"the text is longer than {MAX_OUTPUT} characters")
    return text


def sprint(values: Sequence[Value]) -> str:
    """Format as Print: with a space between two operands if neither is a string."""
    out = ""
    for place, value in enumerate(values):
        spaced = place > 0 and not isinstance(value, str) and not isinstance(values[place - 1], str)
        out = bounded(out + (" " if spaced else "") + format_value(value))
    return out


def sprintln(values: Sequence[Value]) -> str:
    return bounded(" ".join(format_value(value) for value in values) + "\n")
