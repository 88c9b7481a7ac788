"""ReplicaSets: the desired number of pods."""

from collections.abc import Iterable
from datetime import datetime

from demo.lookalikes.kubernetes.controllers.indexes import controller_key, own_key
from demo.lookalikes.kubernetes.controllers.podmaking import Tools, active, deletion_order
from demo.lookalikes.kubernetes.eviction import ready
from demo.lookalikes.kubernetes.objects import Json, dig, metadata, name_of
from demo.lookalikes.kubernetes.store import Change, ObjectKey


class ReplicaSets:
    """The ReplicaSet controller."""

    def __init__(self, tools: Tools) -> None:
        self._tools = tools
        self._kind = tools.cluster.kinds.named("replicasets")

    def concerns(self, change: Change) -> Iterable[ObjectKey]:
        yield from own_key(change, self._kind.listing)
        if change.kind.listing == "pods":
            yield from controller_key(change, "ReplicaSet")

    def reconcile(self, key: ObjectKey) -> datetime | None:
        tree = self._tools.find(self._kind, key)
        if tree is None:
            return None
        pods = [pod for pod in self._tools.indexes.owned(tree, "pods") if active(pod)]
        desired = tree["spec"].get("replicas", 1)
        for pod in deletion_order(pods)[: max(len(pods) - desired, 0)]:
            self._tools.delete_pod(self._kind, tree, pod)
        created = [
            self._tools.create_pod(
                self._kind, tree, tree["spec"]["template"], {"generateName": f"{name_of(tree)}-"}
            )
            for _ in range(desired - len(pods))
        ]
        current = [pod for pod in self._tools.indexes.owned(tree, "pods") if active(pod)] if created else pods
        self._tools.write_status(
            self._kind, tree, _status(tree, current[: max(desired, 0)] if len(current) > desired else current)
        )
        return None


def _status(tree: Json, pods: list[Json]) -> Json:
    labels = dig(tree, "spec", "template", "metadata", "labels") or {}
    counts = {
        "fullyLabeledReplicas": sum(
            labels.items() <= (metadata(p).get("labels") or {}).items() for p in pods
        ),
        "readyReplicas": sum(map(ready, pods)),
        "availableReplicas": sum(map(ready, pods)),
    }
    generation = metadata(tree).get("generation", 1)
    return {
        "replicas": len(pods),
        **{name: count for name, count in counts.items() if count},
        "observedGeneration": generation,
    }
