"""Creation, deletion and counting of pods, for the controllers that own pods."""

import hashlib
from dataclasses import dataclass

from demo.lookalikes.kubernetes.cluster import Cluster
from demo.lookalikes.kubernetes.controllers.events import EventRecorder
from demo.lookalikes.kubernetes.controllers.indexes import Indexes, reference_to
from demo.lookalikes.kubernetes.errors import RefusedError
from demo.lookalikes.kubernetes.eviction import ready
from demo.lookalikes.kubernetes.kinds import Kind
from demo.lookalikes.kubernetes.objects import Json, deleting, dig, encode, metadata, name_of, namespace_of


@dataclass(frozen=True, slots=True)
class Tools:
    """The dependencies of a controller."""

    cluster: Cluster
    indexes: Indexes
    events: EventRecorder

    def find(self, kind: Kind, key: tuple[str, str]) -> Json | None:
        """Return the object, or None if it is missing or being deleted."""
        stored = self.cluster.store.get(kind, *key)
        return None if stored is None or deleting(stored.tree) else stored.tree

    def create_pod(
        self, kind: Kind, owner: Json, template: Json, meta: Json, spec: Json | None = None
    ) -> Json:
        """Create a pod from the owner's template with additional metadata and spec, and record an event."""
        base = template.get("metadata") or {}
        own = {
            **meta,
            "labels": {**(base.get("labels") or {}), **(meta.get("labels") or {})},
            "annotations": {**(base.get("annotations") or {}), **(meta.get("annotations") or {})},
            "ownerReferences": [reference_to(kind, owner)],
        }
        own = {key: value for key, value in own.items() if value}
        tree = {"metadata": own, "spec": {**(template.get("spec") or {}), **(spec or {})}}
        pods = self.cluster.kinds.named("pods")
        try:
            pod = self.cluster.create(pods, namespace_of(owner), tree).tree
        except RefusedError as refusal:
            text = f"Error creating: {refusal.message}"
            self.events.record(
                owner, kind.kind, "FailedCreate", text, f"{kind.kind.lower()}-controller", warning=True
            )
            raise
        source = f"{kind.kind.lower()}-controller"
        self.events.record(owner, kind.kind, "SuccessfulCreate", f"Created pod: {name_of(pod)}", source)
        return pod

    def delete_pod(self, kind: Kind, owner: Json, pod: Json) -> None:
        """Delete one pod of the owner, and record an event."""
        if not deleting(pod):
            self.cluster.delete(self.cluster.kinds.named("pods"), namespace_of(pod), name_of(pod))
            source = f"{kind.kind.lower()}-controller"
            self.events.record(owner, kind.kind, "SuccessfulDelete", f"Deleted pod: {name_of(pod)}", source)

    def write_status(self, kind: Kind, tree: Json, status: Json) -> None:
        """Set the status if it has changed."""
        if tree.get("status") != status:
            self.cluster.set_status(kind, namespace_of(tree), name_of(tree), status)


def active(pod: Json) -> bool:
    """Whether a pod still counts as a replica."""
    return not deleting(pod) and dig(pod, "status", "phase") not in ("Succeeded", "Failed")


def deletion_order(pods: list[Json]) -> list[Json]:
    """Return the pods in the order of deletion: unscheduled, pending, unready, newest first."""

    def rank(pod: Json) -> tuple[bool, bool, bool]:
        return (bool(dig(pod, "spec", "nodeName")), dig(pod, "status", "phase") == "Running", ready(pod))

    newest_first = sorted(pods, key=lambda pod: str(metadata(pod)["creationTimestamp"]), reverse=True)
    return sorted(newest_first, key=rank)


def template_hash(template: Json) -> str:
    """Return a hash of a pod template, ten characters long."""
    digest = hashlib.blake2s(encode(template), digest_size=10).digest()
    return "".join("bcdfghjklmnpqrstvwxz2456789"[byte % 27] for byte in digest)


def share(amount: int | str | None, of: int, *, up: bool) -> int:
    """Return an `IntOrString` amount as a number of pods."""
    if isinstance(amount, str):
        hundredths = int(amount.rstrip("%")) * of
        return -(-hundredths // 100) if up else hundredths // 100
    return amount or 0
