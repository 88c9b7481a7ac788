"""Patterns of names in settings, such as `prod-*`, as a shell reads them. Upper and lower case differ."""

from collections.abc import Iterable
from fnmatch import fnmatchcase


def fits_any(name: str, patterns: Iterable[str]) -> bool:
    """Whether a name fits one of the patterns."""
    return any(fnmatchcase(name, pattern) for pattern in patterns)
