"""This file keeps two look-ups over the store up to date: who is owned by whom, and which pods are on which node."""

from __future__ import annotations

from collections.abc import Iterable

from demo.lookalikes.kubernetes.cluster import Cluster
from demo.lookalikes.kubernetes.kinds import Kind
from demo.lookalikes.kubernetes.objects import Json, dig, metadata, name_of, namespace_of
from demo.lookalikes.kubernetes.store import Change, ObjectKey, Stored

_Place = tuple[str, str, str]  # listing, namespace, name


class Indexes:
    """Look-ups by owner's uid and by node's name."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._by_owner: dict[str, dict[_Place, Stored]] = {}
        self._by_node: dict[str, dict[_Place, Stored]] = {}

    def hear(self, change: Change) -> None:
        """Follow one change; must hear all of them, in order."""
        place = (change.kind.listing, namespace_of(change.after.tree), name_of(change.after.tree))
        if change.before is not None:
            for table, key in self._keys(change.before):
                table.get(key, {}).pop(place, None)
        if change.type != "DELETED":
            for table, key in self._keys(change.after):
                table.setdefault(key, {})[place] = change.after

    def _keys(self, stored: Stored) -> Iterable[tuple[dict[str, dict[_Place, Stored]], str]]:
        for reference in metadata(stored.tree).get("ownerReferences") or ():
            yield self._by_owner, reference["uid"]
        if stored.kind.listing == "pods" and (node := dig(stored.tree, "spec", "nodeName")):
            yield self._by_node, node

    def dependents(self, uid: str) -> list[Stored]:
        """Return everything that names this uid as an owner."""
        return list(self._by_owner.get(uid, {}).values())

    def owned(self, owner: Json, listing: str) -> list[Json]:
        """Return the objects of one kind that this owner controls, in name order."""
        found = self._by_owner.get(metadata(owner)["uid"], {})
        kept = [s.tree for place, s in sorted(found.items()) if place[0] == listing]
        return [tree for tree in kept if (controller_of(tree) or {}).get("uid") == metadata(owner)["uid"]]

    def on_node(self, node: str) -> list[Json]:
        """Return the pods bound to a node."""
        return [stored.tree for stored in self._by_node.get(node, {}).values()]


def controller_of(tree: Json) -> Json | None:
    """Return the owner reference of the object's controller."""
    for reference in metadata(tree).get("ownerReferences") or ():
        if reference.get("controller"):
            return dict(reference)
    return None


def controller_key(change: Change, kind: str) -> Iterable[ObjectKey]:
    """Return the key of the controller of that kind, before and after a change."""
    for stored in (change.before, change.after):
        reference = controller_of(stored.tree) if stored else None
        if reference and reference["kind"] == kind:
            yield (namespace_of(change.after.tree), reference["name"])


def reference_to(kind: Kind, owner: Json) -> Json:
    """Return the owner reference of a controller."""
    return {
        "apiVersion": kind.api_version,
        "kind": kind.kind,
        "name": name_of(owner),
        "uid": metadata(owner)["uid"],
        "controller": True,
        "blockOwnerDeletion": True,
    }


def own_key(change: Change, listing: str) -> Iterable[ObjectKey]:
    """Return the changed object's key when it is of that kind."""
    if change.kind.listing == listing:
        yield (namespace_of(change.after.tree), name_of(change.after.tree))
