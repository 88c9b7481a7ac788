"""This file rolls Deployments out by ReplicaSets: one per template, the newest takes over within the limits."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from demo.lookalikes.kubernetes.controllers.indexes import controller_key, own_key, reference_to
from demo.lookalikes.kubernetes.controllers.podmaking import Tools, share, template_hash
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
from demo.lookalikes.kubernetes.store import Change, ObjectKey

_REVISION = "deployment.kubernetes.io/revision"
_HASH = "pod-template-hash"


def _replicas(tree: Json) -> int:
    return int(dig(tree, "spec", "replicas") or 0)


def _available(tree: Json) -> int:
    return int(dig(tree, "status", "availableReplicas") or 0)


class Deployments:
    """The Deployment controller."""

    def __init__(self, tools: Tools) -> None:
        self._tools = tools
        self._kind = tools.cluster.kinds.named("deployments")
        self._sets = tools.cluster.kinds.named("replicasets")

    def concerns(self, change: Change) -> Iterable[ObjectKey]:
        yield from own_key(change, self._kind.listing)
        if change.kind.listing == self._sets.listing:
            yield from controller_key(change, "Deployment")

    def reconcile(self, key: ObjectKey) -> datetime | None:
        tree = self._tools.find(self._kind, key)
        if tree is None:
            return None
        sets = self._tools.indexes.owned(tree, self._sets.listing)
        digest = template_hash(tree["spec"]["template"])
        newest = next((s for s in sets if metadata(s)["labels"].get(_HASH) == digest), None)
        paused = bool(tree["spec"].get("paused"))
        if newest is None and not (paused and sets):
            newest = self._new_set(tree, sets, digest)
        olds = [s for s in sets if newest is None or name_of(s) != name_of(newest)]
        if newest is not None and not paused:
            tree = self._revised(tree, newest, olds)
            self._roll(tree, newest, olds)
        elif newest is not None:
            self._scale(tree, newest, _replicas(tree) - sum(map(_replicas, olds)))
        sets = self._tools.indexes.owned(tree, self._sets.listing)
        self._report(tree, sets, digest)
        self._forget_old(tree, sets, digest)
        return None

    def _new_set(self, tree: Json, sets: list[Json], digest: str) -> Json:
        template = tree["spec"]["template"]
        labels = {**(dig(template, "metadata", "labels") or {}), _HASH: digest}
        selector = with_value(tree["spec"]["selector"], ("matchLabels", _HASH), digest)
        body = {
            "metadata": {
                "name": f"{name_of(tree)}-{digest}",
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
        return self._tools.cluster.create(self._sets, namespace_of(tree), body).tree

    @staticmethod
    def _revision(sets: list[Json]) -> int:
        return max((int((metadata(s).get("annotations") or {}).get(_REVISION, 0)) for s in sets), default=0)

    def _revised(self, tree: Json, newest: Json, olds: list[Json]) -> Json:
        """Number the newest set after all others (a rollback makes an old one newest) and note it on the whole."""
        revision = (metadata(newest).get("annotations") or {}).get(_REVISION, "0")
        if int(revision) <= self._revision(olds):
            revision = str(self._revision(olds) + 1)
            self._annotate(self._sets, newest, revision)
        return self._annotate(self._kind, tree, revision)

    def _annotate(self, kind: Kind, tree: Json, revision: str) -> Json:
        if (metadata(tree).get("annotations") or {}).get(_REVISION) == revision:
            return tree
        path = ("metadata", "annotations", _REVISION)
        changed = self._tools.cluster.patch(
            kind, namespace_of(tree), name_of(tree), lambda old: with_value(old, path, revision)
        )
        return changed.tree

    def _roll(self, tree: Json, newest: Json, olds: list[Json]) -> None:
        wanted, strategy = _replicas(tree), tree["spec"].get("strategy") or {}
        old_total = sum(map(_replicas, olds))
        if strategy.get("type") == "Recreate":
            for old in olds:
                self._scale(tree, old, 0)
            if not any(dig(old, "status", "replicas") for old in olds) and not old_total:
                self._scale(tree, newest, wanted)
            return
        rolling = strategy.get("rollingUpdate") or {}
        surge = share(rolling.get("maxSurge", "25%"), wanted, up=True)
        missing = share(rolling.get("maxUnavailable", "25%"), wanted, up=False)
        if not surge and not missing:
            missing = 1
        current = _replicas(newest)
        if current != wanted:
            room = wanted + surge - current - old_total
            self._scale(tree, newest, min(wanted, current + max(room, 0)))
        if old_total:
            spare = old_total + current - (wanted - missing) - (current - _available(newest))
            for old in sorted(olds, key=_available):
                idle = _replicas(old) - _available(old)  # what does not serve goes first and costs nothing
                cut = min(_replicas(old), max(spare, idle))
                if cut > 0:
                    self._scale(tree, old, _replicas(old) - cut)
                    spare -= cut

    def _scale(self, tree: Json, part: Json, replicas: int) -> None:
        replicas = max(replicas, 0)
        if _replicas(part) == replicas:
            return
        word = "up" if replicas > _replicas(part) else "down"
        text = f"Scaled {word} replica set {name_of(part)} from {_replicas(part)} to {replicas}"
        path = ("spec", "replicas")
        self._tools.cluster.patch(
            self._sets, namespace_of(part), name_of(part), lambda old: with_value(old, path, replicas)
        )
        self._tools.events.record(tree, "Deployment", "ScalingReplicaSet", text, "deployment-controller")

    def _report(self, tree: Json, sets: list[Json], digest: str) -> None:
        wanted = _replicas(tree)
        newest = [s for s in sets if metadata(s)["labels"].get(_HASH) == digest]
        available = sum(map(_available, sets))
        counts = {
            "replicas": sum(dig(s, "status", "replicas") or 0 for s in sets),
            "updatedReplicas": sum(dig(s, "status", "replicas") or 0 for s in newest),
            "readyReplicas": sum(dig(s, "status", "readyReplicas") or 0 for s in sets),
            "availableReplicas": available,
            "unavailableReplicas": max(wanted - available, 0),
        }
        missing = share(dig(tree, "spec", "strategy", "rollingUpdate", "maxUnavailable"), wanted, up=False)
        done = counts["updatedReplicas"] == wanted == available == counts["replicas"]
        conditions = [
            self._condition(tree, "Available", available >= wanted - missing, "MinimumReplicasAvailable",
                            "MinimumReplicasUnavailable", ("Deployment has minimum availability.",
                                                           "Deployment does not have minimum availability.")),
            self._condition(tree, "Progressing", True, "NewReplicaSetAvailable" if done else "ReplicaSetUpdated", "",
                            (f'ReplicaSet "{name_of(tree)}-{digest}" '
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
        same = old.get("status") == status
        unmoved = same and old.get("reason") == reason and old.get("message") == message
        return {
            "type": kind,
            "status": status,
            "lastUpdateTime": old["lastUpdateTime"] if unmoved else now,
            "lastTransitionTime": old["lastTransitionTime"] if same else now,
            "reason": reason,
            "message": message,
        }

    def _forget_old(self, tree: Json, sets: list[Json], digest: str) -> None:
        idle = [
            s
            for s in sets
            if metadata(s)["labels"].get(_HASH) != digest
            and not _replicas(s)
            and not dig(s, "status", "replicas")
        ]
        idle.sort(key=lambda s: int((metadata(s).get("annotations") or {}).get(_REVISION, 0)))
        for old in idle[: max(len(idle) - tree["spec"].get("revisionHistoryLimit", 10), 0)]:
            self._tools.cluster.delete(self._sets, namespace_of(old), name_of(old))
