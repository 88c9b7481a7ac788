"""Regular expressions in templates: `match` and `reReplaceAll`, as in Go."""

import re
from functools import lru_cache
from typing import Any

import re2

from go_templates.template_errors import RenderError

LONGEST_PATTERN = 2_000
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
    text = _short(text)
    for found in shape.finditer(text):
        if found.start() == found.end() == end and out:
            continue  # Go skips an empty match right after a match
        out += (text[end : found.start()], _expanded(replacement, found, shape))
        end = found.end()
        length += len(out[-2]) + len(out[-1])
        if length > longest:
            raise RenderError(f"reReplaceAll produces more than {longest} characters")
    return "".join((*out, text[end:]))


def _expanded(replacement: str, found: Any, shape: Any) -> str:
    def group(reference: re.Match[str]) -> str:
        name = reference[1] or reference[2]
        if name is None:
            return "$"
        key = int(name) if name.isdecimal() and len(name) < 4 else name
        known = key <= shape.groups if isinstance(key, int) else key in shape.groupindex
        return (found[key] or "") if known else ""

    return _REFERENCE.sub(group, replacement)


@lru_cache(maxsize=1024)
def _compiled(pattern: str) -> Any:  # RE2's, which is as Python's
    if len(pattern) > LONGEST_PATTERN:
        raise RenderError(f"regexp: a regular expression longer than {LONGEST_PATTERN} characters")
    options = re2.Options()
    options.log_errors = False
    try:
        return re2.compile(_without_surrogates(pattern), options)
    except re2.error as error:
        what = error.args[0]
        what = what.decode(errors="replace") if isinstance(what, bytes) else str(what)
        raise RenderError(f"regexp: Compile(`{pattern}`): {what}") from None


def _short(text: str) -> str:
    if len(text) > LONGEST_TEXT:
        raise RenderError(f"regexp: the text is longer than {LONGEST_TEXT} characters")
    return _without_surrogates(text)


def _without_surrogates(text: str) -> str:
    """Replace lone surrogates, which RE2 cannot read; Go has none."""
    return text if text.isascii() else text.encode(errors="replace").decode()
