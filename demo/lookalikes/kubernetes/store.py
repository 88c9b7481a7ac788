"""Storage of objects and of a bounded history of their changes, with one version counter."""

import asyncio
from bisect import bisect_right
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal

from demo.lookalikes.kubernetes.kinds import Kind
from demo.lookalikes.kubernetes.objects import Json, encode, metadata, name_of, namespace_of

ObjectKey = tuple[str, str]  # namespace ("" for cluster-wide), name
ChangeType = Literal["ADDED", "MODIFIED", "DELETED"]


@dataclass(frozen=True, slots=True)
class Stored:
    """One stored object. `item` is its JSON in lists, where built-in kinds omit kind and apiVersion."""

    kind: Kind
    tree: Json
    item: bytes
    version: int

    def whole(self) -> bytes:
        """Return the JSON with kind and apiVersion, as in GET and watch."""
        if self.kind.custom:
            return self.item
        head = f'{{"kind":"{self.kind.kind}","apiVersion":"{self.kind.api_version}",'
        return head.encode() + self.item[1:]


@dataclass(frozen=True, slots=True)
class Change:
    """One step of the history. `before` is None for ADDED; `after` is the last state for DELETED."""

    version: int
    type: ChangeType
    kind: Kind
    after: Stored
    before: Stored | None


class Store:
    """All objects. Every write is one synchronous step, so a reader never sees part of one."""

    def __init__(self, *, history: int = 20_000) -> None:
        self.version = 1
        self._history_limit = history
        self._objects: dict[str, dict[ObjectKey, Stored]] = {}
        self._changes: dict[str, list[Change]] = {}
        self._forgotten: dict[str, int] = {}  # per listing: the newest version dropped from the history
        self._wakers: dict[str, set[asyncio.Event]] = {}
        self._listeners: list[Callable[[Change], None]] = []

    def get(self, kind: Kind, namespace: str, name: str) -> Stored | None:
        return self._objects.get(kind.listing, {}).get((namespace, name))

    def all(self, kind: Kind, namespace: str = "") -> list[Stored]:
        """Return the objects in key order, of one namespace or of all."""
        found = self._objects.get(kind.listing, {})
        if namespace:
            return [found[key] for key in sorted(key for key in found if key[0] == namespace)]
        return [found[key] for key in sorted(found)]

    def all_at(self, kind: Kind, version: int, namespace: str = "") -> list[Stored] | None:
        """Return the objects as of a version, or None when the history no longer reaches it."""
        if version < self._forgotten.get(kind.listing, 0):
            return None
        state = dict(self._objects.get(kind.listing, {}))
        for change in reversed(self.since(kind, version) or ()):
            key = (namespace_of(change.after.tree), name_of(change.after.tree))
            if change.before is None:
                state.pop(key, None)
            else:
                state[key] = change.before
        return [state[key] for key in sorted(state) if not namespace or key[0] == namespace]

    def since(self, kind: Kind, version: int) -> list[Change] | None:
        """Return the changes after a version, or None when the history has dropped some of them."""
        if version < self._forgotten.get(kind.listing, 0):
            return None
        changes = self._changes.get(kind.listing, [])
        return changes[bisect_right(changes, version, key=lambda change: change.version) :]

    def forgotten(self, kind: Kind) -> int:
        """Return the newest version of this kind that the history has dropped."""
        return self._forgotten.get(kind.listing, 0)

    def put(self, kind: Kind, tree: Json) -> Stored:
        """Store the tree under a new version and return it."""
        self.version += 1
        new = {**tree, "metadata": {**metadata(tree), "resourceVersion": str(self.version)}}
        stored = self.stored(kind, new, self.version)
        table = self._objects.setdefault(kind.listing, {})
        key = (namespace_of(new), name_of(new))
        before = table.get(key)
        table[key] = stored
        self._record(Change(self.version, "MODIFIED" if before else "ADDED", kind, stored, before))
        return stored

    def remove(self, kind: Kind, namespace: str, name: str, last: Json | None = None) -> Stored:
        """Remove the object and return its last state under a new version. Raises KeyError for a missing one."""
        before = self._objects[kind.listing].pop((namespace, name))
        self.version += 1
        tree = before.tree if last is None else last
        tree = {**tree, "metadata": {**metadata(tree), "resourceVersion": str(self.version)}}
        gone = self.stored(kind, tree, self.version)
        self._record(Change(self.version, "DELETED", kind, gone, before))
        return gone

    @staticmethod
    def stored(kind: Kind, tree: Json, version: int) -> Stored:
        """Return the tree with its encoding, without storing it."""
        if kind.custom:
            return Stored(kind, tree, encode(tree), version)
        bare = {key: value for key, value in tree.items() if key not in ("kind", "apiVersion")}
        return Stored(kind, tree, encode(bare), version)

    def forget(self) -> None:
        """Drop the history: every older version gets 410 from now on."""
        self.version += 1
        for listing in set(self._objects) | set(self._changes):
            self._changes[listing] = []
            self._forgotten[listing] = self.version
        self._wake_all()

    def listen(self, listener: Callable[[Change], None]) -> Callable[[], None]:
        """Call the listener after each change, in order, and return how to unsubscribe. It must not raise."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    @contextmanager
    def waking(self, kind: Kind) -> Iterator[asyncio.Event]:
        """Yield an event that is set whenever this kind changes."""
        waker = asyncio.Event()
        wakers = self._wakers.setdefault(kind.listing, set())
        wakers.add(waker)
        try:
            yield waker
        finally:
            wakers.discard(waker)

    def _wake_all(self) -> None:
        for wakers in self._wakers.values():
            for waker in wakers:
                waker.set()

    def _record(self, change: Change) -> None:
        listing = change.kind.listing
        changes = self._changes.setdefault(listing, [])
        changes.append(change)
        if (
            len(changes) > 2 * self._history_limit
        ):  # cut rarely and much: cutting the head of a list is expensive
            cut = len(changes) - self._history_limit
            self._forgotten[listing] = changes[cut - 1].version
            del changes[:cut]
        for waker in self._wakers.get(listing, ()):
            waker.set()
        for listener in self._listeners:
            listener(change)
