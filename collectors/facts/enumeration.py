"""A few of many names, for people."""

from collections.abc import Sequence

from collectors.facts.sentences import Listed, listed


def some_of(names: Sequence[str], shown: int) -> Listed:
    """Return the first of the names, and how many more there are."""
    return listed(names, most=shown)
