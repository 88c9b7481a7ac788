"""The namespaces of a team that does not have all: what it may silence and acknowledge there. Pure."""

import re
from collections.abc import Iterable

from alerts.matching import Matcher, Operator
from collectors.facts.name_patterns import fits_any

_PIECE = re.compile(r"(?P<literal>[a-z0-9-]*)(?P<rest>\.[*+])?")


def has_all(patterns: Iterable[str]) -> bool:
    return "*" in patterns


def are_within(matchers: Iterable[Matcher], patterns: tuple[str, ...]) -> bool:
    """Return whether the matchers can fit alerts of these namespaces only.

    One must name namespaces: `namespace="vision-a"`, or `namespace=~` with names and prefixes such as
    `vision-a|speech-.*`. Any other pattern counts as outside.
    """
    return has_all(patterns) or any(_is_within(matcher, patterns) for matcher in matchers)


def _is_within(matcher: Matcher, patterns: tuple[str, ...]) -> bool:
    if matcher.name != "namespace" or matcher.operator not in (Operator.EQUAL, Operator.MATCHES):
        return False
    if matcher.operator is Operator.EQUAL:
        return bool(matcher.value) and fits_any(matcher.value, patterns)
    for piece in matcher.value.split("|"):
        found = _PIECE.fullmatch(piece)
        if not piece or found is None:
            return False
        if not (
            _any_prefix(found["literal"], patterns) if found["rest"] else fits_any(found["literal"], patterns)
        ):
            return False
    return True


def _any_prefix(prefix: str, patterns: Iterable[str]) -> bool:
    """Return whether a pattern `start*` has every name with this prefix."""
    starts = (pattern.removesuffix("*") for pattern in patterns if pattern.endswith("*"))
    return any(not set(start) & set("*?[") and prefix.startswith(start) for start in starts)


def matcher_of(patterns: Iterable[str]) -> str:
    """Return the matcher that names all of them: `namespace=~"vision-.*"`."""
    return f'namespace=~"{"|".join(pattern.replace("*", ".*") for pattern in patterns)}"'
