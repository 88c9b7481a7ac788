"""Deployments: one ReplicaSet per template; the newest takes over within the limits of the strategy."""

from demo.lookalikes.kubernetes.controllers.indexes import reference_to
from demo.lookalikes.kubernetes.controllers.podmaking import share, template_hash
from demo.lookalikes.kubernetes.controllers.workloads import WorkloadController
from demo.lookalikes.kubernetes.kinds import Kind
from demo.lookalikes.kubernetes.objects import (
    Json,
    condition,
    dig,
    metadata,
    name_of,
    namespace_of,
    stamp,
    with_value,
)

_REVISION = "deployment.kubernetes.io/revision"
_HASH = "pod-template-hash"


def _replicas(tree: Json) -> int:
    return int(dig(tree, "spec", "replicas") or 0)


def _available(tree: Json) -> int:
    return int(dig(tree, "status", "availableReplicas") or 0)


class Deployments(WorkloadController):
    """The Deployment controller."""

    plural = "deployments"
    controls = "replicasets"

    def _bring_about(self, tree: Json) -> None:
        sets = self._tools.indexes.owned(tree, self._controlled.listing)
        hash_ = template_hash(tree["spec"]["template"])
        newest = next((s for s in sets if metadata(s)["labels"].get(_HASH) == hash_), None)
        paused = bool(tree["spec"].get("paused"))
        if newest is None and not (paused and sets):
            newest = self._new_set(tree, sets, hash_)
        old_sets = [s for s in sets if newest is None or name_of(s) != name_of(newest)]
        if newest is not None and not paused:
            tree = self._set_revision(tree, newest, old_sets)
            self._roll(tree, newest, old_sets)
        elif newest is not None:
            self._scale(tree, newest, _replicas(tree) - sum(map(_replicas, old_sets)))
        sets = self._tools.indexes.owned(tree, self._controlled.listing)
        self._report(tree, sets, hash_)
        self._delete_old_sets(tree, sets, hash_)

    def _new_set(self, tree: Json, sets: list[Json], hash_: str) -> Json:
        template = tree["spec"]["template"]
        labels = {**(dig(template, "metadata", "labels") or {}), _HASH: hash_}
        selector = with_value(tree["spec"]["selector"], ("matchLabels", _HASH), hash_)
        body = {
            "metadata": {
                "name": f"{name_of(tree)}-{hash_}",
                "labels": labels,
                "annotations": {_REVISION: str(self._revision(sets) + 1)},
                "ownerReferences": [reference_to(self._kind, tree)],
            },
            "spec": {
                "replicas": 0,
                "selector": selector,
                "template": with_value(template, ("metadata", "labels"), labels),
            },
        }
        return self._tools.cluster.create(self._controlled, namespace_of(tree), body).tree

    @staticmethod
    def _revision(sets: list[Json]) -> int:
        return max((int((metadata(s).get("annotations") or {}).get(_REVISION, 0)) for s in sets), default=0)

    def _set_revision(self, tree: Json, newest: Json, old_sets: list[Json]) -> Json:
        """Give the newest set the highest revision, also after a rollback, and copy it to the Deployment."""
        revision = (metadata(newest).get("annotations") or {}).get(_REVISION, "0")
        if int(revision) <= self._revision(old_sets):
            revision = str(self._revision(old_sets) + 1)
            self._annotate(self._controlled, newest, revision)
        return self._annotate(self._kind, tree, revision)

    def _annotate(self, kind: Kind, tree: Json, revision: str) -> Json:
        if (metadata(tree).get("annotations") or {}).get(_REVISION) == revision:
            return tree
        path = ("metadata", "annotations", _REVISION)
        changed = self._tools.cluster.patch(
            kind, namespace_of(tree), name_of(tree), lambda old: with_value(old, path, revision)
        )
        return changed.tree

    def _roll(self, tree: Json, newest: Json, old_sets: list[Json]) -> None:
        desired, strategy = _replicas(tree), tree["spec"].get("strategy") or {}
        old_total = sum(map(_replicas, old_sets))
        if strategy.get("type") == "Recreate":
            for old in old_sets:
                self._scale(tree, old, 0)
            if not any(dig(old, "status", "replicas") for old in old_sets) and not old_total:
                self._scale(tree, newest, desired)
            return
        rolling = strategy.get("rollingUpdate") or {}
        surge = share(rolling.get("maxSurge", "25%"), desired, up=True)
        unavailable = share(rolling.get("maxUnavailable", "25%"), desired, up=False)
        if not surge and not unavailable:
            unavailable = 1
        current = _replicas(newest)
        if current != desired:
            allowed = desired + surge - current - old_total
            self._scale(tree, newest, min(desired, current + max(allowed, 0)))
        if old_total:
            spare = old_total + current - (desired - unavailable) - (current - _available(newest))
            for old in sorted(old_sets, key=_available):
                unhealthy = _replicas(old) - _available(
                    old
                )  # unavailable replicas go first and cost no availability
                cut = min(_replicas(old), max(spare, unhealthy))
                if cut > 0:
                    self._scale(tree, old, _replicas(old) - cut)
                    spare -= cut

    def _scale(self, tree: Json, part: Json, replicas: int) -> None:
        replicas = max(replicas, 0)
        if _replicas(part) == replicas:
            return
        direction = "up" if replicas > _replicas(part) else "down"
        text = f"Scaled {direction} replica set {name_of(part)} from {_replicas(part)} to {replicas}"
        path = ("spec", "replicas")
        self._tools.cluster.patch(
            self._controlled, namespace_of(part), name_of(part), lambda old: with_value(old, path, replicas)
        )
        self._tools.events.record(tree, "Deployment", "ScalingReplicaSet", text, "deployment-controller")

    def _report(self, tree: Json, sets: list[Json], hash_: str) -> None:
        desired = _replicas(tree)
        newest = [s for s in sets if metadata(s)["labels"].get(_HASH) == hash_]
        available = sum(map(_available, sets))
        counts = {
            "replicas": sum(dig(s, "status", "replicas") or 0 for s in sets),
            "updatedReplicas": sum(dig(s, "status", "replicas") or 0 for s in newest),
            "readyReplicas": sum(dig(s, "status", "readyReplicas") or 0 for s in sets),
            "availableReplicas": available,
            "unavailableReplicas": max(desired - available, 0),
        }
        unavailable = share(
            dig(tree, "spec", "strategy", "rollingUpdate", "maxUnavailable"), desired, up=False
        )
        done = counts["updatedReplicas"] == desired == available == counts["replicas"]
        conditions = [
            self._condition(tree, "Available", available >= desired - unavailable, "MinimumReplicasAvailable",
                            "MinimumReplicasUnavailable", ("Deployment has minimum availability.",
                                                           "Deployment does not have minimum availability.")),
            self._condition(tree, "Progressing", True, "NewReplicaSetAvailable" if done else "ReplicaSetUpdated", "",
                            (f'ReplicaSet "{name_of(tree)}-{hash_}" '
                             + ("has successfully progressed." if done else "is progressing."), "")),
        ]  # fmt: skip
        status = {
            "observedGeneration": metadata(tree).get("generation", 1),
            **{name: count for name, count in counts.items() if count},
            "conditions": conditions,
        }
        self._tools.write_status(self._kind, tree, status)

    def _condition(
        self, tree: Json, kind: str, good: bool, yes: str, no: str, texts: tuple[str, str]
    ) -> Json:
        now = stamp(self._tools.cluster.clock())
        reason, message = (yes, texts[0]) if good else (no, texts[1])
        old = condition(tree, kind) or {}
        status = "True" if good else "False"
        is_same = old.get("status") == status
        is_unchanged = is_same and old.get("reason") == reason and old.get("message") == message
        return {
            "type": kind,
            "status": status,
            "lastUpdateTime": old["lastUpdateTime"] if is_unchanged else now,
            "lastTransitionTime": old["lastTransitionTime"] if is_same else now,
            "reason": reason,
            "message": message,
        }

    def _delete_old_sets(self, tree: Json, sets: list[Json], hash_: str) -> None:
        idle = [
            s
            for s in sets
            if metadata(s)["labels"].get(_HASH) != hash_
            and not _replicas(s)
            and not dig(s, "status", "replicas")
        ]
        idle.sort(key=lambda s: int((metadata(s).get("annotations") or {}).get(_REVISION, 0)))
        for old in idle[: max(len(idle) - tree["spec"].get("revisionHistoryLimit", 10), 0)]:
            self._tools.cluster.delete(self._controlled, namespace_of(old), name_of(old))
