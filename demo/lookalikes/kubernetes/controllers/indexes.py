"""Two indexes over the store: objects by owner and pods by node."""

from collections.abc import Iterable

from demo.lookalikes.kubernetes.cluster import Cluster
from demo.lookalikes.kubernetes.kinds import Kind
from demo.lookalikes.kubernetes.objects import Json, dig, metadata, name_of, namespace_of
from demo.lookalikes.kubernetes.store import Change, ObjectKey, Stored

_Address = tuple[str, str, str]  # listing, namespace, name


class Indexes:
    """Objects by the UID of an owner, and pods by the name of their node."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._by_owner: dict[str, dict[_Address, Stored]] = {}
        self._by_node: dict[str, dict[_Address, Stored]] = {}

    def update(self, change: Change) -> None:
        """Apply one change. Every change must be applied, in order."""
        address = (change.kind.listing, namespace_of(change.after.tree), name_of(change.after.tree))
        if change.before is not None:
            for table, key in self._keys(change.before):
                table.get(key, {}).pop(address, None)
        if change.type != "DELETED":
            for table, key in self._keys(change.after):
                table.setdefault(key, {})[address] = change.after

    def _keys(self, stored: Stored) -> Iterable[tuple[dict[str, dict[_Address, Stored]], str]]:
        for reference in metadata(stored.tree).get("ownerReferences") or ():
            yield self._by_owner, reference["uid"]
        if stored.kind.listing == "pods" and (node := dig(stored.tree, "spec", "nodeName")):
            yield self._by_node, node

    def dependents(self, uid: str) -> list[Stored]:
        """Return all objects that name this UID as an owner."""
        return list(self._by_owner.get(uid, {}).values())

    def owned(self, owner: Json, listing: str) -> list[Json]:
        """Return the objects of one kind that this owner controls, in name order."""
        found = self._by_owner.get(metadata(owner)["uid"], {})
        trees = [s.tree for address, s in sorted(found.items()) if address[0] == listing]
        return [tree for tree in trees if (controller_of(tree) or {}).get("uid") == metadata(owner)["uid"]]

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
    """Return the keys of the controllers of that kind, before and after a change."""
    for stored in (change.before, change.after):
        reference = controller_of(stored.tree) if stored else None
        if reference and reference["kind"] == kind:
            yield (namespace_of(change.after.tree), reference["name"])


def reference_to(kind: Kind, owner: Json) -> Json:
    """Return an owner reference that makes the owner the controller."""
    return {
        "apiVersion": kind.api_version,
        "kind": kind.kind,
        "name": name_of(owner),
        "uid": metadata(owner)["uid"],
        "controller": True,
        "blockOwnerDeletion": True,
    }


def own_key(change: Change, listing: str) -> Iterable[ObjectKey]:
    """Return the key of the changed object if it is of that kind."""
    if change.kind.listing == listing:
        yield (namespace_of(change.after.tree), name_of(change.after.tree))
