"""Ranges of nodes in a line: `gpu-25 to gpu-27` is three nodes."""

import re
from collections.abc import Sequence

from commands.core.matching.known_names import KnownNames
from commands.core.matching.tokens import has_quoted_text
from commands.core.parameter_types import NameKind

_RANGE = re.compile(
    r"(?<![\w./-])(?P<stem>[a-z][\w./-]*?)(?P<first>\d+)(?:\s*(?:\.\.+|…|~|–|—|到|至)\s*|\s+(?:to|through|thru)\s+|-)"
    r"(?P<again>[a-z][\w./-]*?)?(?P<last>\d+)(?![\w./-])",
    re.IGNORECASE | re.ASCII,
)


def with_ranges(words: Sequence[str], names: KnownNames) -> list[str]:
    """Return the words with each range of nodes as their names; both ends must be nodes."""
    if has_quoted_text(words):
        return list(words)
    nodes = {name.lower(): name for name in names.names.get(NameKind.NODE, ())}

    def between(found: re.Match[str]) -> str:
        stem, again = found["stem"].lower(), (found["again"] or found["stem"]).lower()
        ends = (f"{stem}{found['first']}", f"{again}{found['last']}")
        if found[0].lower() in nodes or stem != again or not all(end in nodes for end in ends):
            return found[0]
        numbers = range(int(found["first"]), int(found["last"]) + 1)
        inside = (name for name in nodes if name.startswith(stem) and name[len(stem) :].isdecimal())
        return f" {' '.join(nodes[name] for name in inside if int(name[len(stem) :]) in numbers)} "

    return _RANGE.sub(between, " ".join(words)).split()
