"""This file runs Go's regular expressions on Python's engine: translated, and kept from running away.

Go's engine takes a time that grows with the text, Python's may take for ever; so what could (an unbounded
repetition within another) is refused, and so are long texts. Patterns come from rule files, texts from labels.
"""

import re
from functools import lru_cache

from alerts.templates.errors import RenderError

LONGEST_PATTERN = 500
LONGEST_TEXT = 4096
MOST_REPETITIONS = 8  # unbounded ones, in one pattern
_POSIX = {
    **{
        "alnum": "0-9A-Za-z",
        "alpha": "A-Za-z",
        "digit": "0-9",
        "lower": "a-z",
        "upper": "A-Z",
        "word": r"\w",
    },
    **{"space": r"\t\n\v\f\r ", "blank": r"\t ", "xdigit": "0-9A-Fa-f", "cntrl": r"\x00-\x1f\x7f"},
    **{"punct": r"!-/:-@\[-`{-~", "ascii": r"\x00-\x7f", "print": " -~", "graph": "!-~"},
}
_PIECE = re.compile(
    r"\\Q(?P<literal>.*?)(?:\\E|$)|\\(?P<escape>x\{[0-9a-fA-F]+\}|x[0-9a-fA-F]{2}|[0-7]{3}|p\{?\^?\w+\}?|P\{?\w+\}?|.)"
    r"|\[:(?P<negated>\^?)(?P<posix>\w+):\]|(?P<group>\(\?P?<(?P<name>\w+)>|\(\?[imsU]*(?:-[imsU]+)?[:)]|\((?!\?))"
    r"|(?P<bounds>\{\d+(?:,\d*)?\})|(?P<other>.)",
    re.S,
)
_ESCAPES = "AbBdDsSwWafnrtvz"
_REFERENCE = re.compile(r"\$(?:\$|(\w+)|\{(\w+)\})", re.ASCII)


def matches(pattern: str, text: str) -> bool:
    """Whether the pattern is found in the text. RenderError on a pattern that Go refuses, or that is too much."""
    return compiled(pattern).search(_short(text)) is not None


def replaced(pattern: str, replacement: str, text: str, *, longest: int) -> str:
    """The text with every match replaced; `$1`, `${name}` and `$$` in the replacement as in Go."""
    shape = compiled(pattern)
    length = 0

    def expanded(found: re.Match[str]) -> str:
        nonlocal length

        def group(reference: re.Match[str]) -> str:
            name = reference[1] or reference[2]
            if name is None:
                return "$"
            key = int(name) if name.isdecimal() and len(name) < 4 else name
            known = key <= shape.groups if isinstance(key, int) else key in shape.groupindex
            return (found[key] or "") if known else ""

        out = _REFERENCE.sub(group, replacement)
        length += len(out)
        if length > longest:
            raise RenderError(f"reReplaceAll makes more than {longest} characters")
        return out

    return shape.sub(expanded, _short(text))


@lru_cache(maxsize=256)
def compiled(pattern: str) -> re.Pattern[str]:
    """A Go pattern as Python's. Raises RenderError."""
    if len(pattern) > LONGEST_PATTERN:
        raise RenderError(f"a regular expression longer than {LONGEST_PATTERN} characters")
    try:
        return re.compile(_translated(pattern), re.ASCII)
    except (re.error, OverflowError, RecursionError) as error:
        raise RenderError(f"regexp: Compile(`{pattern}`): {error}") from None


def _short(text: str) -> str:
    if len(text) > LONGEST_TEXT:
        raise RenderError(f"a text longer than {LONGEST_TEXT} characters for a regular expression")
    return text


def _wrong(pattern: str, why: str) -> RenderError:
    return RenderError(f"regexp: Compile(`{pattern}`): {why}")


def _translated(pattern: str) -> str:
    out: list[str] = []
    in_class = False
    class_start = -1
    repeats = [False]  # for each open group: has it an unbounded repetition within?
    closed_repeats = False  # whether the group that has just been closed had one
    total = 0
    for piece in _PIECE.finditer(pattern):
        text = piece.group()
        was_closed, closed_repeats = closed_repeats, False
        if piece["literal"] is not None:
            out.append(re.escape(piece["literal"]))
        elif piece["escape"] is not None:
            out.append(_escape(pattern, piece["escape"], in_class=in_class))
        elif piece["posix"] is not None and in_class:
            if piece["posix"] not in _POSIX or piece["negated"]:
                raise _wrong(pattern, f"invalid character class range: `{text}`")
            out.append(_POSIX[piece["posix"]])
        elif in_class:
            is_end = text == "]" and pattern[class_start + 1 : piece.start()] not in ("", "^")
            in_class = not is_end
            out.append(text if text == "]" and is_end else re.sub(r"([\[\]&|~])", r"\\\1", text))
        elif text == "[":
            in_class, class_start = True, piece.start()
            out.append(text)
        elif piece["group"]:
            if "U" in text.split("<")[0]:
                raise _wrong(pattern, "the flag U is not supported")
            out.append(_group(pattern, piece, is_first=piece.start() == 0))
            if not text.endswith(")"):
                repeats.append(False)
        elif text == ")":
            if len(repeats) == 1:
                raise _wrong(pattern, "unexpected )")
            closed_repeats = repeats.pop()
            repeats[-1] = repeats[-1] or closed_repeats
            out.append(text)
        elif text in ("*", "+") or (piece["bounds"] and text.endswith(",}")):
            if was_closed:
                raise _wrong(pattern, "an unbounded repetition within another is not supported")
            repeats[-1] = True
            total += 1
            out.append(text)
        elif piece["bounds"] and was_closed:
            raise _wrong(pattern, "a repetition within another is not supported")
        else:
            out.append(r"\Z" if text == "$" and "(?m" not in pattern else text)
    if total > MOST_REPETITIONS:
        raise _wrong(pattern, f"more than {MOST_REPETITIONS} unbounded repetitions")
    return "".join(out)


def _group(pattern: str, piece: re.Match[str], *, is_first: bool) -> str:
    if piece["name"]:
        return f"(?P<{piece['name']}>"
    text = piece.group()
    if text.endswith(")") and text.startswith("(?") and not is_first:
        raise _wrong(pattern, "flags that do not stand at the beginning are not supported")
    return text


def _escape(pattern: str, escape: str, *, in_class: bool) -> str:
    if escape.startswith("x{"):
        code = int(escape[2:-1], 16)
        if code > 0x10FFFF:
            raise _wrong(pattern, f"invalid escape sequence: `\\{escape}`")
        return re.escape(chr(code))
    if escape.startswith("x") and len(escape) == 3:
        return "\\" + escape
    if len(escape) == 3 and escape.isdecimal():
        return re.escape(chr(int(escape, 8)))
    if escape == "z" and not in_class:
        return r"\Z"
    if escape in _ESCAPES and escape != "z" and not (in_class and escape in "AbB"):
        return "\\" + escape
    if len(escape) == 1 and escape.isascii() and not escape.isalnum():
        return re.escape(escape)
    raise _wrong(pattern, f"invalid escape sequence: `\\{escape}`")
