"""A cluster's cache that changes when a test says so."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

from collectors.cluster.cache import ObjectChange


@dataclass(slots=True, kw_only=True)
class ChangingCache:
    """What parts of the bot listen to, as to the cache of a cluster."""

    listeners: list[Callable[[ObjectChange], None]] = field(default_factory=list)

    def subscribe(self, listener: Callable[[ObjectChange], None]) -> Callable[[], None]:
        """Call the listener after each change. Return a function that removes it."""
        self.listeners.append(listener)
        return partial(self.listeners.remove, listener)

    def tell(self, change: ObjectChange) -> None:
        """Tell all listeners of a change."""
        for listener in self.listeners:
            listener(change)
