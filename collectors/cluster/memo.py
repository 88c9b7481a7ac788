"""Values derived from immutable parts, kept from one snapshot to the next while the parts are the same."""

import operator
from collections.abc import Callable, Hashable
from typing import Any, TypeVar

T = TypeVar("T")

# Snapshots, of which there is at most one a second: rules need their values every minute or so.
KEPT_FOR = 100


class Memo:
    """The derived values of one snapshot. It shares those of `previous`, and forgets what is not used for long."""

    def __init__(self, previous: "Memo | None" = None, *, kept_for: int = KEPT_FOR) -> None:
        self._number: int = previous._number + 1 if previous is not None else 0
        self._found: dict[Hashable, tuple[int, tuple[object, ...], Any]] = {}
        if previous is not None:
            self._found = previous._found
            if self._number % kept_for == 0:
                self._forget(self._number - kept_for)

    def get(self, key: Hashable, parts: tuple[object, ...], derive: Callable[[], T]) -> T:
        """Return the value of this key, derived again if one of its parts is another object than before."""
        found = self._found.get(key)
        value: T
        if found is not None and len(found[1]) == len(parts) and all(map(operator.is_, found[1], parts)):
            used, parts, value = found
            if used == self._number:
                return value
        else:
            value = derive()
        self._found[key] = self._number, parts, value
        return value

    def _forget(self, before: int) -> None:
        for key in [key for key, (used, _, _) in self._found.items() if used < before]:
            del self._found[key]
