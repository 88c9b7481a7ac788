"""This file has what templates do with regular expressions: `match` and `reReplaceAll`, as Go does them."""

import re

from alerts.templates.template_errors import RenderError
from collectors.facts.patterns import Match, Pattern, compile_pattern

LONGEST_TEXT = 4096
_REFERENCE = re.compile(r"\$(?:\$|(\w+)|\{(\w+)\})", re.ASCII)


def matches(pattern: str, text: str) -> bool:
    """Whether the pattern is found in the text. Raises RenderError for what Go refuses, and for a text too long."""
    return _compiled(pattern).search(_short(text)) is not None


def replaced(pattern: str, replacement: str, text: str, *, longest: int) -> str:
    """The text with every match replaced; `$1`, `${name}` and `$$` in the replacement as in Go. Raises RenderError."""
    shape = _compiled(pattern)
    out: list[str] = []
    length, end = 0, 0
    for found in shape.finditer(_short(text)):
        if found.start() == found.end() == end and out:
            continue  # nothing, right after a match: Go passes over it
        out += (text[end : found.start()], _expanded(replacement, found, shape))
        end = found.end()
        length += len(out[-2]) + len(out[-1])
        if length > longest:
            raise RenderError(f"reReplaceAll makes more than {longest} characters")
    return "".join((*out, text[end:]))


def _expanded(replacement: str, found: Match, shape: Pattern) -> str:
    def group(reference: re.Match[str]) -> str:
        name = reference[1] or reference[2]
        if name is None:
            return "$"
        key = int(name) if name.isdecimal() and len(name) < 4 else name
        known = key <= shape.groups if isinstance(key, int) else key in shape.groupindex
        return (found[key] or "") if known else ""

    return _REFERENCE.sub(group, replacement)


def _compiled(pattern: str) -> Pattern:
    try:
        return compile_pattern(pattern)
    except ValueError as error:
        raise RenderError(f"regexp: Compile(`{pattern}`): {error}") from None


def _short(text: str) -> str:
    if len(text) > LONGEST_TEXT:
        raise RenderError(f"a text longer than {LONGEST_TEXT} characters for a regular expression")
    return text
