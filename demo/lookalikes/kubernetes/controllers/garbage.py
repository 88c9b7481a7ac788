"""Garbage collection: dependents of deleted owners, foreground and orphan deletion, pods of deleted nodes."""

from collections.abc import Iterable
from datetime import datetime

from demo.lookalikes.kubernetes.controllers.controller import Settings
from demo.lookalikes.kubernetes.controllers.podmaking import Tools
from demo.lookalikes.kubernetes.deletion import FOREGROUND, ORPHAN, DeleteOptions
from demo.lookalikes.kubernetes.kinds import Kind
from demo.lookalikes.kubernetes.objects import Json, deleting, dig, metadata, name_of, namespace_of
from demo.lookalikes.kubernetes.store import Change, ObjectKey, Stored


class GarbageCollector:
    """The garbage collector. Its keys are UIDs: ("", uid)."""

    def __init__(self, tools: Tools) -> None:
        self._tools = tools
        self._live: dict[str, tuple[Kind, str, str]] = {}

    def concerns(self, change: Change) -> Iterable[ObjectKey]:
        meta = metadata(change.after.tree)
        if change.type == "DELETED":
            self._live.pop(meta["uid"], None)
            yield ("", meta["uid"])
        else:
            self._live[meta["uid"]] = (
                change.kind,
                namespace_of(change.after.tree),
                name_of(change.after.tree),
            )
            if deleting(change.after.tree):
                yield ("", meta["uid"])
        for reference in meta.get("ownerReferences") or ():
            yield ("", reference["uid"])

    def reconcile(self, key: ObjectKey) -> datetime | None:
        uid = key[1]
        address = self._live.get(uid)
        owner = self._tools.cluster.store.get(*address) if address else None
        dependents = self._tools.indexes.dependents(uid)
        if owner is None:
            for dependent in dependents:
                self._collect(dependent, uid)
        elif deleting(owner.tree):
            finalizers = metadata(owner.tree).get("finalizers") or []
            if ORPHAN in finalizers:
                for dependent in dependents:
                    self._remove_owner(dependent, uid)
                self._finish(owner, ORPHAN)
            elif FOREGROUND in finalizers:
                self._foreground(owner, dependents, uid)
        return None

    def _collect(self, dependent: Stored, uid: str) -> None:
        """Delete a dependent without a living owner, or remove the deleted owner from its references."""
        others = [
            r
            for r in metadata(dependent.tree)["ownerReferences"]
            if r["uid"] != uid and r["uid"] in self._live
        ]
        if others:
            self._remove_owner(dependent, uid)
        else:
            self._delete(dependent, "Background")

    def _foreground(self, owner: Stored, dependents: list[Stored], uid: str) -> None:
        blocking = [
            d
            for d in dependents
            if any(
                r["uid"] == uid and r.get("blockOwnerDeletion") for r in metadata(d.tree)["ownerReferences"]
            )
        ]
        if not blocking:
            self._finish(owner, FOREGROUND)
        for dependent in blocking:
            self._delete(
                dependent, "Foreground" if self._tools.indexes.dependents(_uid(dependent)) else "Background"
            )

    def _delete(self, dependent: Stored, propagation: str) -> None:
        if not deleting(dependent.tree):
            options = DeleteOptions(propagation=propagation)
            self._tools.cluster.delete(
                dependent.kind, namespace_of(dependent.tree), name_of(dependent.tree), options
            )

    def _remove_owner(self, dependent: Stored, uid: str) -> None:
        remaining = [r for r in metadata(dependent.tree)["ownerReferences"] if r["uid"] != uid]
        self._rewrite(dependent, "ownerReferences", remaining)

    def _finish(self, owner: Stored, finalizer: str) -> None:
        remaining = [f for f in metadata(owner.tree)["finalizers"] if f != finalizer]
        self._rewrite(owner, "finalizers", remaining)

    def _rewrite(self, stored: Stored, field: str, remaining: list[Json] | list[str]) -> None:
        meta = {key: value for key, value in metadata(stored.tree).items() if key != field}
        if remaining:
            meta[field] = remaining
        self._tools.cluster.update(stored, {**stored.tree, "metadata": meta})


def _uid(stored: Stored) -> str:
    return str(metadata(stored.tree)["uid"])


class LostPods:
    """The removal of pods that are bound to a deleted node. Its keys are nodes: ("", name)."""

    def __init__(self, tools: Tools, settings: Settings) -> None:
        self._tools = tools
        self._grace = settings.lost_pod_grace
        self._nodes = tools.cluster.kinds.named("nodes")
        self._pods = tools.cluster.kinds.named("pods")
        self._missing_since: dict[str, datetime] = {}

    def concerns(self, change: Change) -> Iterable[ObjectKey]:
        if change.kind.listing == "nodes" and change.type == "DELETED":
            yield ("", name_of(change.after.tree))
            return
        node = dig(change.after.tree, "spec", "nodeName") if change.kind.listing == "pods" else None
        if node and self._tools.cluster.store.get(self._nodes, "", node) is None:
            yield ("", node)

    def reconcile(self, key: ObjectKey) -> datetime | None:
        node = key[1]
        if self._tools.cluster.store.get(self._nodes, "", node) is not None:
            self._missing_since.pop(node, None)
            return None
        now = self._tools.cluster.clock()
        ends = self._missing_since.setdefault(node, now) + self._grace
        if now < ends:
            return ends
        for pod in self._tools.indexes.on_node(node):
            options = DeleteOptions(grace=0)
            self._tools.cluster.delete(self._pods, namespace_of(pod), name_of(pod), options)
        return None
