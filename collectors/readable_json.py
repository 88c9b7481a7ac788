r"""JSON from outside whose texts may be none: bytes that are not UTF-8, and halves of characters.

Go writes labels as it has them, and a program that cuts a line may cut a character. Such a text is read with what is
none of it escaped: `gpu-\xff01`. It is the same in every answer, so an alert keeps its identity.
"""

import codecs
import re
from collections.abc import Callable
from typing import Any, TypeVar

import msgspec

T = TypeVar("T")

# A pair of halves is a character, and stays; so does every other escape.
_ESCAPE = re.compile(
    r"(?P<pair>\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})"
    r"|\\(?P<half>u[dD][89a-fA-F][0-9a-fA-F]{2})"
    r"|\\."
)


def json_decoded(decode: Callable[[Any], T], body: bytes | msgspec.Raw) -> T:
    """Decode a JSON text; what is no text in its strings is escaped in them. Raises msgspec.DecodeError."""
    try:
        return decode(body)
    except UnicodeDecodeError:
        return decode(repaired_json(bytes(body)))
    except msgspec.DecodeError:
        if (read := repaired_json(bytes(body))) == bytes(body):
            raise
        return decode(read)


def repaired_json(body: bytes) -> bytes:
    r"""Return the JSON text with bytes that are not UTF-8 as `\\xff`, and with lone surrogates as `\\ud83d`."""
    return _ESCAPE.sub(_without_half, body.decode(errors=_HANDLER)).encode()


def _without_half(found: re.Match[str]) -> str:
    return rf"\\{half}" if (half := found["half"]) else found[0]


def _as_escape(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeDecodeError)
    return "".join(rf"\\x{one:02x}" for one in error.object[error.start : error.end]), error.end


_HANDLER = "yardmaster.escaped_in_json"
codecs.register_error(_HANDLER, _as_escape)
