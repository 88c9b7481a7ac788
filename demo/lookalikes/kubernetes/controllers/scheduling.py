"""Scheduling of pods, and the reasons in the real scheduler's words when a pod does not fit."""

from bisect import insort
from collections import Counter
from collections.abc import Iterable
from datetime import datetime

from demo.lookalikes.kubernetes.controllers.placement import (
    Amounts,
    matches_affinity,
    requested_amounts,
    untolerated,
)
from demo.lookalikes.kubernetes.controllers.podmaking import Tools
from demo.lookalikes.kubernetes.errors import RefusedError
from demo.lookalikes.kubernetes.objects import (
    Json,
    condition,
    deleting,
    dig,
    name_of,
    namespace_of,
    with_condition,
)
from demo.lookalikes.kubernetes.quantities import milli
from demo.lookalikes.kubernetes.store import Change, ObjectKey

_HARD = ("NoSchedule", "NoExecute")
_FEASIBLE_LIMIT = 50  # feasible nodes to choose the emptiest from; the real scheduler samples too
_ALL_WAITING: ObjectKey = ("", "")  # the key for trying all waiting pods again


class Scheduler:
    """The default scheduler. It tracks what is free on each node from the changes in the store."""

    def __init__(self, tools: Tools) -> None:
        self._tools = tools
        self._pods = tools.cluster.kinds.named("pods")
        self._claims = tools.cluster.kinds.named("resourceclaims")
        self._nodes: dict[str, Json] = {}
        self._order: list[str] = []  # the names of the nodes
        self._barred: dict[str, bool] = {}  # node -> whether it is cordoned or has hard taints
        self._allocatable: dict[str, Amounts] = {}
        self._used: dict[str, Amounts] = {}
        self._accounted: dict[ObjectKey, tuple[str, Amounts]] = {}
        self._waiting: dict[ObjectKey, None] = {}
        self._start = 0

    def concerns(self, change: Change) -> Iterable[ObjectKey]:
        tree = change.after.tree
        if change.kind.listing == "nodes":
            if change.type == "DELETED":
                self._nodes.pop(name_of(tree), None)
                self._order = sorted(self._nodes)
                yield _ALL_WAITING
            elif _is_relevant(change):
                if name_of(tree) not in self._nodes:
                    insort(self._order, name_of(tree))
                self._nodes[name_of(tree)] = tree
                taints = dig(tree, "spec", "taints") or ()
                self._barred[name_of(tree)] = bool(
                    dig(tree, "spec", "unschedulable")
                    or any(taint.get("effect") in _HARD for taint in taints)
                )
                allocatable = dig(tree, "status", "allocatable") or dig(tree, "status", "capacity") or {}
                self._allocatable[name_of(tree)] = {
                    name: milli(amount) for name, amount in allocatable.items()
                }
                yield _ALL_WAITING
        elif change.kind.listing == "pods":
            key = (namespace_of(tree), name_of(tree))
            has_freed = self._account(key, None if change.type == "DELETED" else tree)
            if has_freed:
                yield _ALL_WAITING
            if change.type != "DELETED" and _is_waiting(tree):
                if change.before is None or change.before.tree.get("spec") != tree.get("spec"):
                    yield key
            else:
                self._waiting.pop(key, None)
        elif change.kind.listing == self._claims.listing and change.before is None:
            yield _ALL_WAITING

    def _account(self, key: ObjectKey, pod: Json | None) -> bool:
        """Record what a pod takes on its node, and return whether it freed anything."""
        node = dig(pod, "spec", "nodeName")
        is_over = dig(pod, "status", "phase") in ("Succeeded", "Failed")
        old = self._accounted.get(key)
        if node and not is_over:
            amounts = {**requested_amounts(pod or {}), "pods": 1000}
            if old == (node, amounts):
                return False
            self._accounted[key] = (node, amounts)
            self._book(node, amounts, 1)
        else:
            self._accounted.pop(key, None)
        if old is not None:
            self._book(old[0], old[1], -1)
        return old is not None

    def _book(self, node: str, amounts: Amounts, sign: int) -> None:
        used = self._used.setdefault(node, {})
        for name, amount in amounts.items():
            used[name] = used.get(name, 0) + sign * amount

    def reconcile(self, key: ObjectKey) -> datetime | None:
        if key == _ALL_WAITING:
            for waiting in sorted(self._waiting, key=self._priority, reverse=True):
                self._schedule(waiting)
        else:
            self._schedule(key)
        return None

    def _priority(self, key: ObjectKey) -> int:
        stored = self._tools.cluster.store.get(self._pods, *key)
        return int(dig(stored.tree, "spec", "priority") or 0) if stored else 0

    def _schedule(self, key: ObjectKey) -> None:
        stored = self._tools.cluster.store.get(self._pods, *key)
        if stored is None or not _is_waiting(stored.tree):
            self._waiting.pop(key, None)
            return
        pod = stored.tree
        # The real one says nothing of a claim that is missing either, and tries again once it is there.
        if not self._has_claims(pod):
            self._waiting[key] = None
            return
        amounts = requested_amounts(pod)
        feasible: list[str] = []
        rejections: Counter[str] = Counter()
        unresolvable = 0
        names = self._order
        has_constraints = bool(dig(pod, "spec", "nodeSelector") or dig(pod, "spec", "affinity"))
        start = self._start % len(names) if names else 0
        for name in names[start:] + names[:start]:
            reasons, is_unresolvable = self._misfit_reasons(
                pod, amounts, name, has_constraints=has_constraints
            )
            if not reasons:
                feasible.append(name)
                if len(feasible) >= _FEASIBLE_LIMIT:
                    break
            rejections.update(reasons)
            unresolvable += is_unresolvable
        if feasible:
            self._start += 1
            self._bind(pod, min(feasible, key=lambda name: self._fullness(name, amounts)))
            self._waiting.pop(key, None)
            return
        self._waiting[key] = None
        self._explain(pod, rejections, unresolvable, len(names))

    def _has_claims(self, pod: Json) -> bool:
        """Whether the claims that the pod names are there. Devices are not allocated here."""
        named = (one.get("resourceClaimName") for one in dig(pod, "spec", "resourceClaims") or ())
        store = self._tools.cluster.store
        return all(store.get(self._claims, namespace_of(pod), name) is not None for name in named if name)

    def _misfit_reasons(
        self, pod: Json, amounts: Amounts, name: str, *, has_constraints: bool
    ) -> tuple[list[str], bool]:
        """Return why the pod does not fit the node, and whether preemption could not help."""
        node = self._nodes[name]
        if self._barred[name]:
            if dig(node, "spec", "unschedulable") and not _tolerates_cordon(pod):
                return ["node(s) were unschedulable"], True
            if untolerated(pod, node, _HARD):
                return ["node(s) had untolerated taint(s)"], True
        if has_constraints and not matches_affinity(pod, node):
            return ["node(s) didn't match Pod's node affinity/selector"], True
        allocatable, used = self._allocatable.get(name, {}), self._used.get(name, {})
        reasons, is_unresolvable = [], False
        if used.get("pods", 0) + 1000 > allocatable.get("pods", 110_000):
            reasons.append("Too many pods")
        for resource, amount in amounts.items():
            if amount and used.get(resource, 0) + amount > allocatable.get(resource, 0):
                reasons.append(f"Insufficient {resource}")
                is_unresolvable = is_unresolvable or amount > allocatable.get(resource, 0)
        return reasons, is_unresolvable

    def _fullness(self, name: str, amounts: Amounts) -> float:
        allocatable, used = self._allocatable.get(name, {}), self._used.get(name, {})
        return sum(
            used.get(r, 0) / allocatable[r] for r in {*amounts, "cpu", "memory", "pods"} if allocatable.get(r)
        )

    def _bind(self, pod: Json, node: str) -> None:
        self._tools.cluster.bind(namespace_of(pod), name_of(pod), node)
        text = f"Successfully assigned {namespace_of(pod)}/{name_of(pod)} to {node}"
        self._tools.events.record(pod, "Pod", "Scheduled", text, "default-scheduler")

    def _explain(self, pod: Json, rejections: Counter[str], unresolvable: int, total: int) -> None:
        if total:
            counted = ", ".join(sorted(f"{count} {reason}" for reason, count in rejections.items()))
            by_reason = {"Preemption is not helpful for scheduling": unresolvable,
                       "No preemption victims found for incoming pod": total - unresolvable}  # fmt: skip
            victims = ", ".join(sorted(f"{count} {reason}" for reason, count in by_reason.items() if count))
            text = (
                f"0/{total} nodes are available: {counted}. no new claims to deallocate, "
                f"preemption: 0/{total} nodes are available: {victims}."
            )
        else:
            text = "no nodes available to schedule pods"
        wanted = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": text}
        old = condition(pod, "PodScheduled") or {}
        if all(old.get(key) == value for key, value in wanted.items()):
            return
        status = pod.get("status") or {}
        conditions = with_condition(
            status.get("conditions") or [], {**wanted, "lastProbeTime": None}, self._tools.cluster.clock()
        )
        try:
            self._tools.cluster.set_status(
                self._pods, namespace_of(pod), name_of(pod), {**status, "conditions": conditions}
            )
        except RefusedError:
            return
        self._tools.events.record(pod, "Pod", "FailedScheduling", text, "default-scheduler", warning=True)


def _is_waiting(pod: Json) -> bool:
    return (
        not dig(pod, "spec", "nodeName")
        and not deleting(pod)
        and not dig(pod, "spec", "schedulingGates")
        and dig(pod, "spec", "schedulerName") == "default-scheduler"
        and dig(pod, "status", "phase") not in ("Succeeded", "Failed")
    )


def _is_relevant(change: Change) -> bool:
    """Whether a node's change can affect where pods fit; a heartbeat cannot."""
    if change.before is None:
        return True
    old, new = change.before.tree, change.after.tree
    paths = (("spec",), ("metadata", "labels"), ("status", "allocatable"), ("status", "capacity"))
    return any(dig(old, *path) != dig(new, *path) for path in paths)


def _tolerates_cordon(pod: Json) -> bool:
    cordon = {"spec": {"taints": [{"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}]}}
    return untolerated(pod, cordon, _HARD) is None
