"""Constants of templates: Go's numbers, characters and quoted strings."""

import math
import re

from go_templates.syntax_tree import ConstantNode

_INTEGER = re.compile(
    r"[+-]?(?:0[xX](?:_?[0-9a-fA-F])+|0[bB](?:_?[01])+|0[oO](?:_?[0-7])+|0(?:_?[0-7])+|0|[1-9](?:_?[0-9])*)",
    re.ASCII,
)
_DECIMAL = re.compile(
    r"[+-]?(?:\d(?:_?\d)*\.?(?:\d(?:_?\d)*)?|\.\d(?:_?\d)*)(?:[eE][+-]?\d(?:_?\d)*)?", re.ASCII
)
_HEXADECIMAL = re.compile(
    r"[+-]?0[xX](?:(?:_?[0-9a-fA-F])+\.?(?:[0-9a-fA-F](?:_?[0-9a-fA-F])*)?|\.[0-9a-fA-F](?:_?[0-9a-fA-F])*)"
    r"[pP][+-]?\d+",
    re.ASCII,
)
_ESCAPE = re.compile(
    r"\\(?:([abfnrtv\\'\"])|([0-7]{3})|x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(.?))|([^\\]+)",
    re.S,
)
_SIMPLE = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
_LARGEST = 2**64
_LONGEST = 400  # characters of a number: real ones are shorter, and parsing time is quadratic


def parse_number(text: str, at: int) -> ConstantNode:
    """Parse a number. Raise ValueError for one that Go would reject."""
    if len(text) > _LONGEST:
        raise ValueError(f"bad number syntax: {text[:20]}…")
    if text.endswith("i"):
        return ConstantNode(at=at, value=complex(0, _decimal(text[:-1])))
    if _INTEGER.fullmatch(text):
        whole = _integer(text)
        if not -_LARGEST // 2 <= whole < _LARGEST:
            raise ValueError(f"integer overflow: {text}")
        return ConstantNode(at=at, value=whole)
    if not set(text) & set(".eEpP"):
        raise ValueError(f"bad number syntax: {text}")  # 08: not octal, and without a point
    return ConstantNode(at=at, value=_decimal(text))


def character(text: str, at: int) -> ConstantNode:
    """Parse a character constant in quotes into its code point. Raise ValueError."""
    inner = unquoted(text, quote="'")
    if len(inner) != 1:
        raise ValueError(f"malformed character constant: {text}")
    return ConstantNode(at=at, value=ord(inner))


def unquoted(text: str, *, quote: str = '"') -> str:
    """Return the content of a quoted string. Raise ValueError for an escape that Go does not know."""
    out: list[str] = []
    for simple, octal, byte, short, long, unknown, plain in _ESCAPE.findall(text[1:-1]):
        if plain:
            out.append(plain)
        elif simple:
            if simple in "'\"" and simple != quote:
                raise ValueError(f"invalid syntax: \\{simple} in a string in {quote}")
            out.append(_SIMPLE.get(simple, simple))
        elif octal or byte:
            value = int(octal, 8) if octal else int(byte, 16)
            if value > 255:
                raise ValueError(f"invalid syntax: \\{octal}")
            out.append(chr(value) if value < 128 or quote == "'" else chr(0xDC00 + value))
        elif short or long:
            value = int(short or long, 16)
            if value > 0x10FFFF or 0xD800 <= value < 0xE000:
                raise ValueError(f"invalid syntax: \\{'u' if short else 'U'}{short or long}")
            out.append(chr(value))
        else:
            raise ValueError(f"invalid syntax: \\{unknown}")
    # As in Go, single bytes (\xe2\x82\xac) form characters together; stray ones become U+FFFD.
    return "".join(out).encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _integer(text: str) -> int:
    sign, digits = (-1, text[1:]) if text[0] == "-" else (1, text.lstrip("+"))
    digits = digits.replace("_", "").lower()
    if digits.startswith(("0x", "0b", "0o")):
        return sign * int(digits, 0)
    return sign * int(digits, 8 if digits.startswith("0") else 10)


def _decimal(text: str) -> float:
    try:
        if _HEXADECIMAL.fullmatch(text):
            return float.fromhex(text.replace("_", ""))
        if _DECIMAL.fullmatch(text):
            value = float(text.replace("_", ""))
            if math.isfinite(value):
                return value
    except OverflowError:
        pass
    raise ValueError(f"bad number syntax: {text}")
