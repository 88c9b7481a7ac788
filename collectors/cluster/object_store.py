"""The objects of one kind with their indexes, kept up to date by single changes."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from types import MappingProxyType
from typing import Any, Generic, TypeVar

import msgspec

from collectors.cluster.base import KubernetesObject
from collectors.cluster.indexes import Keys
from collectors.cluster.kinds import ResourceKind

T = TypeVar("T", bound=KubernetesObject)
KeysOf = Callable[[Any], Keys]
FEW = 16  # objects of a key of an index, whose dict is rather made again than kept


class ObjectChange(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A change of one object. `before` is None when it is new, `after` when it is deleted.

    A Struct, since the first list creates thousands at once.
    """

    kind: str
    key: str
    before: Any
    after: Any
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot(Generic[T]):
    """All objects of one kind at a moment: it contains every change before `at`.

    `indexes` gives the objects by key for each function of the kind's `indexes`.
    """

    kind: str
    at: datetime
    objects: Mapping[str, T]
    indexes: Mapping[KeysOf, Mapping[str, tuple[T, ...]]] = field(default_factory=dict)


class ObjectStore(Generic[T]):
    """The objects of one kind, from lists and watches. A change costs the same, however many there are."""

    def __init__(self, kind: ResourceKind[T]) -> None:
        self._kind = kind.name
        self._objects: dict[str, T] = {}
        self._indexes = {keys_of: _Index[T](keys_of) for keys_of in kind.indexes}
        self._frozen: tuple[Mapping[str, T], Mapping[KeysOf, Mapping[str, tuple[T, ...]]]] | None = None

    def __len__(self) -> int:
        return len(self._objects)

    def keys(self) -> frozenset[str]:
        return frozenset(self._objects)

    def get(self, key: str) -> T | None:
        return self._objects.get(key)

    def put(self, key: str, new: T) -> None:
        before = self._objects.get(key)
        self._objects[key] = new
        self._frozen = None
        for index in self._indexes.values():
            index.replace(key, before, new)

    def remove(self, key: str) -> T | None:
        """Remove and return an object; None if there is none of this key."""
        before = self._objects.pop(key, None)
        if before is not None:
            self._frozen = None
            for index in self._indexes.values():
                index.replace(key, before, None)
        return before

    def settle(self) -> None:
        """Prepare the next snapshot, so that the first one after many changes does not do it all."""
        for index in self._indexes.values():
            index.settle()

    def snapshot(self, at: datetime) -> Snapshot[T]:
        """Return the objects as they are; the same mappings while nothing changes."""
        if self._frozen is None:
            indexes = {keys_of: index.frozen() for keys_of, index in self._indexes.items()}
            self._frozen = MappingProxyType(dict(self._objects)), indexes
        objects, found = self._frozen
        return Snapshot(kind=self._kind, at=at, objects=objects, indexes=found)


class _Index(Generic[T]):
    """One index. Only the tuples of keys that changed since the last snapshot are rebuilt.

    Most keys have few objects. Their members are made of the tuple when one changes, and not kept: at 50,000 pods these
    small dicts are a twentieth of the memory.
    """

    def __init__(self, keys_of: KeysOf) -> None:
        self._keys_of = keys_of
        self._members: dict[str, dict[str, T]] = {}  # of keys that changed, and of those with many objects
        self._tuples: dict[str, tuple[T, ...]] = {}
        self._changed: set[str] = set()
        self._frozen: Mapping[str, tuple[T, ...]] | None = None

    def replace(self, key: str, before: T | None, after: T | None) -> None:
        new = self._keys_of(after) if after is not None else ()
        if before is not None:
            for one in self._keys_of(before):
                if one not in new:
                    self._members_of(one).pop(key, None)
                    self._changed.add(one)
        if after is not None:
            for one in new:
                self._members_of(one)[key] = after
            self._changed.update(new)

    def settle(self) -> None:
        if self._changed:
            self._frozen = None
        for one in self._changed:
            found = self._members[one]
            if found:
                self._tuples[one] = tuple(found.values())
            else:
                self._tuples.pop(one, None)
            if len(found) <= FEW:
                del self._members[one]
        self._changed.clear()

    def _members_of(self, one: str) -> dict[str, T]:
        found = self._members.get(one)
        if found is None:
            found = self._members[one] = {member.key: member for member in self._tuples.get(one, ())}
        return found

    def frozen(self) -> Mapping[str, tuple[T, ...]]:
        """Return the tuples by key; the same mapping while no object in it changes."""
        self.settle()
        if self._frozen is None:
            self._frozen = MappingProxyType(dict(self._tuples))
        return self._frozen
