"""Values derived from immutable parts, kept from one snapshot to the next while the parts are the same."""

import operator
from collections.abc import Callable, Hashable
from typing import Any, TypeVar

T = TypeVar("T")


class Memo:
    """The derived values of one snapshot. It starts with those of `previous`, and forgets what is not used again."""

    def __init__(self, previous: "Memo | None" = None) -> None:
        self._used: dict[Hashable, tuple[tuple[object, ...], Any]] = {}
        self._previous = previous._used if previous is not None else {}

    def get(self, key: Hashable, parts: tuple[object, ...], derive: Callable[[], T]) -> T:
        """Return the value of this key, derived anew if one of its parts is another object than before."""
        found = self._used.get(key) or self._previous.get(key)
        if found is None or len(found[0]) != len(parts) or not all(map(operator.is_, found[0], parts)):
            found = parts, derive()
        self._used[key] = found
        value: T = found[1]
        return value
