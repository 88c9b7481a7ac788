"""Ranges of names and relative numbers in a line: `gpu-25 to gpu-27` is three nodes, `2 more replicas` is no total."""

import re
from collections.abc import Sequence

from commands.core.matching.known_names import KnownNames
from commands.core.parameter_types import NameKind

_RANGE = re.compile(
    r"(?<![\w./-])(?P<stem>[a-z][\w./-]*?)(?P<first>\d+)(?:\s*(?:\.\.+|…|~|–|—|到|至)\s*|\s+(?:to|through|thru)\s+|-)"
    r"(?P<again>[a-z][\w./-]*?)?(?P<last>\d+)(?![\w./-])",
    re.IGNORECASE | re.ASCII,
)
_RELATIVE = re.compile(
    r"(?<!\S)(?P<count>\d+)\s+(?:more|additional|extra|fewer|less)(?!\S)|(?<!\S)(?:another|add)\s+\d+(?!\S)"
    r"|再?[加多减少]\s*\d+\s*[个张台]",
    re.IGNORECASE | re.ASCII,
)


def with_ranges(words: Sequence[str], names: KnownNames) -> list[str]:
    """Return the words with each range of nodes as their names; both ends must be nodes."""
    if any(any(sign.isspace() for sign in word) for word in words):
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


def without_relative_numbers(words: Sequence[str]) -> list[str]:
    """Return the words without numbers that are added to what is there: a command takes the total, and asks for it."""
    if any(any(sign.isspace() for sign in word) for word in words):
        return list(words)
    return _RELATIVE.sub(" ", " ".join(words)).split()
