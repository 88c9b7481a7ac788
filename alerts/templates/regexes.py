"""Regular expressions in templates: `match` and `reReplaceAll`, as in Go."""

import re

from alerts.templates.template_errors import RenderError
from collectors.facts.patterns import Match, Pattern, compile_pattern

LONGEST_TEXT = 4096
_REFERENCE = re.compile(r"\$(?:\$|(\w+)|\{(\w+)\})", re.ASCII)


def matches_pattern(pattern: str, text: str) -> bool:
    """Whether the text contains the pattern. Raise RenderError for what Go rejects, and for a text that is too long."""
    return _compiled(pattern).search(_short(text)) is not None


def replaced(pattern: str, replacement: str, text: str, *, longest: int) -> str:
    """Replace every match; `$1`, `${name}` and `$$` in the replacement are as in Go. Raise RenderError."""
    shape = _compiled(pattern)
    out: list[str] = []
    length, end = 0, 0
    for found in shape.finditer(_short(text)):
        if found.start() == found.end() == end and out:
            continue  # Go skips an empty match right after a match
        out += (text[end : found.start()], _expanded(replacement, found, shape))
        end = found.end()
        length += len(out[-2]) + len(out[-1])
        if length > longest:
            raise RenderError(f"reReplaceAll produces more than {longest} characters")
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
        raise RenderError(f"regexp: the text is longer than {LONGEST_TEXT} characters")
    return text
