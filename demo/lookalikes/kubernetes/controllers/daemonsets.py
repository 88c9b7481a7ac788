"""DaemonSets: one pod on each eligible node."""

from collections.abc import Iterable

from demo.lookalikes.kubernetes.controllers.placement import matches_affinity, untolerated
from demo.lookalikes.kubernetes.controllers.podmaking import share, template_hash
from demo.lookalikes.kubernetes.controllers.workloads import WorkloadController
from demo.lookalikes.kubernetes.eviction import ready
from demo.lookalikes.kubernetes.objects import Json, deleting, dig, labels_of, metadata, name_of, with_value
from demo.lookalikes.kubernetes.store import Change, ObjectKey

_REVISION = "controller-revision-hash"
_TOLERATIONS = [
    {"key": f"node.kubernetes.io/{key}", "operator": "Exists", "effect": effect}
    for key, effect in (
        ("not-ready", "NoExecute"),
        ("unreachable", "NoExecute"),
        ("disk-pressure", "NoSchedule"),
        ("memory-pressure", "NoSchedule"),
        ("pid-pressure", "NoSchedule"),
        ("unschedulable", "NoSchedule"),
    )
]


class DaemonSets(WorkloadController):
    """The DaemonSet controller."""

    plural = "daemonsets"

    def concerns(self, change: Change) -> Iterable[ObjectKey]:
        yield from super().concerns(change)
        if change.kind.listing == "nodes" and _is_relevant(change):
            for stored in self._tools.cluster.store.all(self._kind):
                yield (stored.tree["metadata"]["namespace"], name_of(stored.tree))

    def _bring_about(self, tree: Json) -> None:
        template = tree["spec"]["template"]
        revision = template_hash(template)
        probe = {"spec": _with_tolerations(template.get("spec") or {})}
        cluster = self._tools.cluster
        nodes = [stored.tree for stored in cluster.store.all(cluster.kinds.named("nodes"))]
        matching = [name_of(node) for node in nodes if matches_affinity(probe, node)]
        may_start = {
            name_of(n) for n in nodes if not untolerated(probe, n, ("NoSchedule", "NoExecute"))
        } & set(matching)
        may_stay = {name_of(n) for n in nodes if not untolerated(probe, n, ("NoExecute",))} & set(matching)
        pods_by_node: dict[str, Json] = {}
        for pod in self._tools.indexes.owned(tree, "pods"):
            node = _node_of(pod)
            if (
                dig(pod, "status", "phase") in ("Failed", "Succeeded")
                or node not in may_stay
                or node in pods_by_node
            ):
                self._tools.delete_pod(self._kind, tree, pod)
            else:
                pods_by_node[node] = pod
        for node in sorted(may_start - set(pods_by_node)):
            pods_by_node[node] = self._create_pod(tree, node, revision)
        self._update(tree, pods_by_node, revision)
        self._report(tree, pods_by_node, may_start, revision)

    def _create_pod(self, tree: Json, node: str, revision: str) -> Json:
        spec = _with_tolerations(tree["spec"]["template"].get("spec") or {})
        term = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": [node]}]}
        path = ("affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution")
        spec = with_value(spec, path, {"nodeSelectorTerms": [term]})
        meta = {"generateName": f"{name_of(tree)}-", "labels": {_REVISION: revision}}
        return self._tools.create_pod(self._kind, tree, tree["spec"]["template"], meta, spec)

    def _update(self, tree: Json, pods_by_node: dict[str, Json], revision: str) -> None:
        strategy = tree["spec"].get("updateStrategy") or {}
        if strategy.get("type") == "OnDelete":
            return
        max_unavailable = share(
            dig(strategy, "rollingUpdate", "maxUnavailable") or 1, len(pods_by_node), up=True
        )
        unavailable = sum(1 for pod in pods_by_node.values() if deleting(pod) or not ready(pod))
        for pod in pods_by_node.values():
            is_outdated = labels_of(pod).get(_REVISION) != revision and not deleting(pod)
            if is_outdated and (not ready(pod) or unavailable < max_unavailable):
                unavailable += ready(pod)
                self._tools.delete_pod(self._kind, tree, pod)

    def _report(self, tree: Json, pods_by_node: dict[str, Json], eligible: set[str], revision: str) -> None:
        pods = [pod for node, pod in pods_by_node.items() if node in eligible and not deleting(pod)]
        healthy = sum(map(ready, pods))
        updated = sum(labels_of(pod).get(_REVISION) == revision for pod in pods)
        optional = {
            "numberAvailable": healthy,
            "numberUnavailable": len(eligible) - healthy,
            "updatedNumberScheduled": updated,
        }
        status = {
            "currentNumberScheduled": len(pods),
            "numberMisscheduled": len(set(pods_by_node) - eligible),
            "desiredNumberScheduled": len(eligible),
            "numberReady": healthy,
            "observedGeneration": metadata(tree).get("generation", 1),
            **{name: count for name, count in optional.items() if count},
        }
        self._tools.write_status(self._kind, tree, status)


def _with_tolerations(spec: Json) -> Json:
    return {**spec, "tolerations": [*(spec.get("tolerations") or ()), *_TOLERATIONS]}


def _node_of(pod: Json) -> str:
    if node := dig(pod, "spec", "nodeName"):
        return str(node)
    path = ("spec", "affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution")
    terms = (dig(pod, *path) or {}).get("nodeSelectorTerms") or [{}]
    fields = terms[0].get("matchFields") or [{"values": [""]}]
    return str(fields[0]["values"][0])


def _is_relevant(change: Change) -> bool:
    if change.type != "MODIFIED" or change.before is None:
        return True
    old, new = change.before.tree, change.after.tree
    return old.get("spec") != new.get("spec") or labels_of(old) != labels_of(new)
