"""This file keeps the objects and the bounded history of their changes, under one counter of versions."""

from __future__ import annotations

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
    """One object as it stands. `item` is its JSON as it appears in lists (built-in kinds without their kind)."""

    kind: Kind
    tree: Json
    item: bytes
    version: int

    def whole(self) -> bytes:
        """Return the JSON with kind and apiVersion, as GET and watch show it."""
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
    """All objects. Every write is one synchronous step, so a reader never sees half of one."""

    def __init__(self, *, history: int = 20_000) -> None:
        self.version = 1
        self._history_limit = history
        self._objects: dict[str, dict[ObjectKey, Stored]] = {}
        self._changes: dict[str, list[Change]] = {}
        self._forgotten: dict[str, int] = {}  # per listing: the newest version that left the history
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
        """Return the objects as they were at a version, or None when the history no longer reaches back."""
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
        """Return the changes after a version, or None when some of them are forgotten."""
        if version < self._forgotten.get(kind.listing, 0):
            return None
        changes = self._changes.get(kind.listing, [])
        return changes[bisect_right(changes, version, key=lambda change: change.version) :]

    def forgotten(self, kind: Kind) -> int:
        """Return the newest version of this kind that left the history."""
        return self._forgotten.get(kind.listing, 0)

    def put(self, kind: Kind, tree: Json) -> Stored:
        """Keep the tree under a new version and return it as stored."""
        self.version += 1
        kept = {**tree, "metadata": {**metadata(tree), "resourceVersion": str(self.version)}}
        stored = self.stored(kind, kept, self.version)
        table = self._objects.setdefault(kind.listing, {})
        key = (namespace_of(kept), name_of(kept))
        before = table.get(key)
        table[key] = stored
        self._note(Change(self.version, "MODIFIED" if before else "ADDED", kind, stored, before))
        return stored

    def remove(self, kind: Kind, namespace: str, name: str, last: Json | None = None) -> Stored:
        """Drop the object and return its last state, under a new version; raises KeyError for a missing one."""
        before = self._objects[kind.listing].pop((namespace, name))
        self.version += 1
        tree = before.tree if last is None else last
        tree = {**tree, "metadata": {**metadata(tree), "resourceVersion": str(self.version)}}
        gone = self.stored(kind, tree, self.version)
        self._note(Change(self.version, "DELETED", kind, gone, before))
        return gone

    @staticmethod
    def stored(kind: Kind, tree: Json, version: int) -> Stored:
        """Return the tree with its encoding, not kept anywhere."""
        if kind.custom:
            return Stored(kind, tree, encode(tree), version)
        bare = {key: value for key, value in tree.items() if key not in ("kind", "apiVersion")}
        return Stored(kind, tree, encode(bare), version)

    def forget(self) -> None:
        """Drop the whole history: every older version is 410 from now on."""
        self.version += 1
        for listing in set(self._objects) | set(self._changes):
            self._changes[listing] = []
            self._forgotten[listing] = self.version
        self._wake_all()

    def listen(self, listener: Callable[[Change], None]) -> Callable[[], None]:
        """Call the listener after each change, in order; returns how to stop that. It must not raise."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    @contextmanager
    def waking(self, kind: Kind) -> Iterator[asyncio.Event]:
        """Lend an event that is set whenever this kind changes."""
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

    def _note(self, change: Change) -> None:
        listing = change.kind.listing
        changes = self._changes.setdefault(listing, [])
        changes.append(change)
        if len(changes) > 2 * self._history_limit:  # cut seldom and much: a list's head is dear to cut
            cut = len(changes) - self._history_limit
            self._forgotten[listing] = changes[cut - 1].version
            del changes[:cut]
        for waker in self._wakers.get(listing, ()):
            waker.set()
        for listener in self._listeners:
            listener(change)
