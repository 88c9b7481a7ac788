"""ReplicaSets: the desired number of pods."""

from demo.lookalikes.kubernetes.controllers.podmaking import active, deletion_order
from demo.lookalikes.kubernetes.controllers.workloads import WorkloadController
from demo.lookalikes.kubernetes.eviction import ready
from demo.lookalikes.kubernetes.objects import Json, dig, metadata, name_of


class ReplicaSets(WorkloadController):
    """The ReplicaSet controller."""

    plural = "replicasets"

    def _bring_about(self, tree: Json) -> None:
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
