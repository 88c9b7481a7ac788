"""The objects of one kind, as pages of a list and events of a watch give them; each change is published once."""

import logging
from collections.abc import Callable, Collection, Iterable, Mapping
from datetime import datetime
from typing import Generic, TypeVar

from collectors.cluster.base import KubernetesObject
from collectors.cluster.decoder import WatchEvent, WatchEventType
from collectors.cluster.kinds import ResourceKind
from collectors.cluster.object_store import ObjectChange, ObjectStore, Snapshot

T = TypeVar("T", bound=KubernetesObject)

_log = logging.getLogger(__name__)


class ReflectedObjects(Generic[T]):
    """What is known of a kind's objects. `now` dates the changes.

    `unreadable`: the keys of objects that cannot be decoded, with the reason. `changes`: how many were published.
    """

    def __init__(
        self, kind: ResourceKind[T], on_change: Callable[[ObjectChange], None], *, now: Callable[[], datetime]
    ) -> None:
        self.unreadable: dict[str, str] = {}
        self.changes = 0
        self._kind = kind
        self._on_change = on_change
        self._now = now
        self._store = ObjectStore(kind)

    @property
    def count(self) -> int:
        return len(self._store)

    def snapshot(self, at: datetime) -> Snapshot[T]:
        return self._store.snapshot(at)

    def add(self, objects: Iterable[T]) -> set[str]:
        """Add one page of a list. Return the keys on it."""
        listed: set[str] = set()
        for object_ in objects:
            key = object_.key
            listed.add(key)
            before = self._store.get(key)
            if before is not None and before.metadata.uid != object_.metadata.uid:
                self._remove(key)
            self._put(key, object_)
        self._store.settle()
        return listed

    def keep(self, listed: Collection[str], unreadable: dict[str, str]) -> None:
        """Remove what a whole list does not have. What is unreadable in it stays as it was read last."""
        for key in self._store.keys() - set(listed) - unreadable.keys():
            self._remove(key)
        self._note_unreadable(unreadable)
        self.unreadable = unreadable

    def apply(self, event: WatchEvent[T]) -> None:
        """Apply one event of a watch."""
        if event.type is WatchEventType.BOOKMARK:
            return
        if event.type is WatchEventType.DELETED:
            self.unreadable.pop(event.key, None)
            self._remove(event.key, event.object)
        elif event.object is not None:
            self.unreadable.pop(event.key, None)
            self._put(event.key, event.object)
        else:  # what was read of it last stays, until it is deleted
            self._note_unreadable({event.key: event.unreadable})
            self.unreadable[event.key] = event.unreadable

    def _note_unreadable(self, found: Mapping[str, str]) -> None:
        for key, reason in found.items():
            if key not in self.unreadable:
                _log.warning("%s %s is left out, it cannot be read: %s", self._kind.name, key, reason)

    def _put(self, key: str, new: T) -> None:
        before = self._store.get(key)
        version = new.metadata.resource_version
        if before is not None and version and before.metadata.resource_version == version:
            return  # received twice, after a reconnect
        self._store.put(key, new)
        self._publish(key, before, new)

    def _remove(self, key: str, last: T | None = None) -> None:
        if (before := self._store.remove(key)) is not None:
            self._publish(key, last or before, None)

    def _publish(self, key: str, before: T | None, after: T | None) -> None:
        self.changes += 1
        self._on_change(
            ObjectChange(kind=self._kind.name, key=key, before=before, after=after, at=self._now())
        )
