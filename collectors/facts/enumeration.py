"""A few of many names, for people."""

from collections.abc import Sequence


def some_of(names: Sequence[str], shown: int) -> str:
    """Return the first of the names, and how many more there are."""
    rest = len(names) - shown
    return ", ".join(names[:shown]) + (f" and {rest} more" if rest > 0 else "")
