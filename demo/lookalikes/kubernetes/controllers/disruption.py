"""The status of PodDisruptionBudgets."""

from collections.abc import Iterable
from datetime import datetime

from demo.lookalikes.kubernetes.controllers.indexes import controller_of, own_key
from demo.lookalikes.kubernetes.controllers.podmaking import Tools
from demo.lookalikes.kubernetes.eviction import budget_status, ready
from demo.lookalikes.kubernetes.objects import (
    Json,
    condition,
    deleting,
    dig,
    labels_of,
    metadata,
    name_of,
    namespace_of,
    stamp,
)
from demo.lookalikes.kubernetes.selectors import selector_test
from demo.lookalikes.kubernetes.store import Change, ObjectKey


class Disruption:
    """The disruption controller."""

    def __init__(self, tools: Tools) -> None:
        self._tools = tools
        self._kind = tools.cluster.kinds.named("poddisruptionbudgets")
        self._pods = tools.cluster.kinds.named("pods")

    def concerns(self, change: Change) -> Iterable[ObjectKey]:
        yield from own_key(change, self._kind.listing)
        tree = change.after.tree
        scaled = change.kind.group == "apps" and change.kind.keeps_status
        if scaled or (change.kind.listing == "pods" and _is_relevant(change)):
            for budget in self._tools.cluster.store.all(self._kind, namespace_of(tree)):
                yield (namespace_of(tree), name_of(budget.tree))

    def reconcile(self, key: ObjectKey) -> datetime | None:
        budget = self._tools.find(self._kind, key)
        if budget is None:
            return None
        test = selector_test(dig(budget, "spec", "selector"))
        pods = [
            stored.tree
            for stored in self._tools.cluster.store.all(self._pods, key[0])
            if test(labels_of(stored.tree))
            and dig(stored.tree, "status", "phase") not in ("Succeeded", "Failed")
        ]
        status = budget_status(budget, pods, self._scale(pods))
        is_allowed = status["disruptionsAllowed"] > 0
        status["conditions"] = [self._condition(budget, is_allowed)]
        self._tools.write_status(self._kind, budget, status)
        return None

    def _scale(self, pods: list[Json]) -> int:
        """Return how many pods the owners of these want; a pod without an owner counts as one."""
        owners: dict[str, int] = {}
        unowned = 0
        for pod in pods:
            reference = controller_of(pod)
            if reference is None:
                unowned += 1
                continue
            kind = self._tools.cluster.kinds.of(reference["apiVersion"], reference["kind"])
            owner = (
                self._tools.cluster.store.get(kind, namespace_of(pod), reference["name"]) if kind else None
            )
            replicas = dig(owner.tree, "spec", "replicas") if owner else None
            owners[reference["uid"]] = (
                replicas if isinstance(replicas, int) else owners.get(reference["uid"], 0) + 1
            )
        return sum(owners.values()) + unowned

    def _condition(self, budget: Json, is_allowed: bool) -> Json:
        old = condition(budget, "DisruptionAllowed") or {}
        value = "True" if is_allowed else "False"
        since = (
            old.get("lastTransitionTime")
            if old.get("status") == value
            else stamp(self._tools.cluster.clock())
        )
        return {
            "type": "DisruptionAllowed",
            "status": value,
            "observedGeneration": metadata(budget).get("generation", 1),
            "lastTransitionTime": since,
            "reason": "SufficientPods" if is_allowed else "InsufficientPods",
            "message": "",
        }


def _is_relevant(change: Change) -> bool:
    if change.type != "MODIFIED" or change.before is None:
        return True

    def relevant(tree: Json) -> tuple[object, ...]:
        return labels_of(tree), dig(tree, "status", "phase"), ready(tree), deleting(tree)

    return relevant(change.before.tree) != relevant(change.after.tree)
