"""This file gives waiting pods to nodes, and says in the real scheduler's words why one cannot be placed."""

from __future__ import annotations

from bisect import insort
from collections import Counter
from collections.abc import Iterable
from datetime import datetime

from demo.lookalikes.kubernetes.controllers.placement import (
    Amounts,
    matches_affinity,
    untolerated,
    wanted_amounts,
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
_ENOUGH = 50  # feasible nodes among which the emptiest is chosen: the real one samples too
_WAKE: ObjectKey = ("", "")  # the key that stands for: look at all that wait


class Scheduler:
    """The default scheduler. It knows what each node has left from the changes it hears."""

    def __init__(self, tools: Tools) -> None:
        self._tools = tools
        self._pods = tools.cluster.kinds.named("pods")
        self._nodes: dict[str, Json] = {}
        self._order: list[str] = []  # the nodes' names
        self._barred: dict[str, bool] = {}  # node -> whether it is cordoned or has taints that keep pods away
        self._room: dict[str, Amounts] = {}
        self._used: dict[str, Amounts] = {}
        self._charged: dict[ObjectKey, tuple[str, Amounts]] = {}
        self._waiting: dict[ObjectKey, None] = {}
        self._turn = 0

    def concerns(self, change: Change) -> Iterable[ObjectKey]:
        tree = change.after.tree
        if change.kind.listing == "nodes":
            if change.type == "DELETED":
                self._nodes.pop(name_of(tree), None)
                self._order = sorted(self._nodes)
                yield _WAKE
            elif _moves(change):
                if name_of(tree) not in self._nodes:
                    insort(self._order, name_of(tree))
                self._nodes[name_of(tree)] = tree
                taints = dig(tree, "spec", "taints") or ()
                self._barred[name_of(tree)] = bool(
                    dig(tree, "spec", "unschedulable")
                    or any(taint.get("effect") in _HARD for taint in taints)
                )
                room = dig(tree, "status", "allocatable") or dig(tree, "status", "capacity") or {}
                self._room[name_of(tree)] = {name: milli(amount) for name, amount in room.items()}
                yield _WAKE
        elif change.kind.listing == "pods":
            key = (namespace_of(tree), name_of(tree))
            freed = self._charge(key, None if change.type == "DELETED" else tree)
            if freed:
                yield _WAKE
            if change.type != "DELETED" and _waits(tree):
                if change.before is None or change.before.tree.get("spec") != tree.get("spec"):
                    yield key
            else:
                self._waiting.pop(key, None)

    def _charge(self, key: ObjectKey, pod: Json | None) -> bool:
        """Book what a pod takes on its node; returns whether something was given back."""
        node = dig(pod, "spec", "nodeName")
        over = dig(pod, "status", "phase") in ("Succeeded", "Failed")
        old = self._charged.get(key)
        if node and not over:
            amounts = {**wanted_amounts(pod or {}), "pods": 1000}
            if old == (node, amounts):
                return False
            self._charged[key] = (node, amounts)
            self._book(node, amounts, 1)
        else:
            self._charged.pop(key, None)
        if old is not None:
            self._book(old[0], old[1], -1)
        return old is not None

    def _book(self, node: str, amounts: Amounts, sign: int) -> None:
        used = self._used.setdefault(node, {})
        for name, amount in amounts.items():
            used[name] = used.get(name, 0) + sign * amount

    def reconcile(self, key: ObjectKey) -> datetime | None:
        if key == _WAKE:
            for waiting in sorted(self._waiting, key=self._priority, reverse=True):
                self._place(waiting)
        else:
            self._place(key)
        return None

    def _priority(self, key: ObjectKey) -> int:
        stored = self._tools.cluster.store.get(self._pods, *key)
        return int(dig(stored.tree, "spec", "priority") or 0) if stored else 0

    def _place(self, key: ObjectKey) -> None:
        stored = self._tools.cluster.store.get(self._pods, *key)
        if stored is None or not _waits(stored.tree):
            self._waiting.pop(key, None)
            return
        pod = stored.tree
        amounts = wanted_amounts(pod)
        fitting: list[str] = []
        misfits: Counter[str] = Counter()
        helpless = 0
        names = self._order
        choosy = bool(dig(pod, "spec", "nodeSelector") or dig(pod, "spec", "affinity"))
        start = self._turn % len(names) if names else 0
        for name in names[start:] + names[:start]:
            reasons, final = self._misfit(pod, amounts, name, choosy=choosy)
            if not reasons:
                fitting.append(name)
                if len(fitting) >= _ENOUGH:
                    break
            misfits.update(reasons)
            helpless += final
        if fitting:
            self._turn += 1
            self._bind(pod, min(fitting, key=lambda name: self._fullness(name, amounts)))
            self._waiting.pop(key, None)
            return
        self._waiting[key] = None
        self._explain(pod, misfits, helpless, len(names))

    def _misfit(self, pod: Json, amounts: Amounts, name: str, *, choosy: bool) -> tuple[list[str], bool]:
        """Return why the node does not do, and whether evicting others could not help either."""
        node = self._nodes[name]
        if self._barred[name]:
            if dig(node, "spec", "unschedulable") and not _tolerates_cordon(pod):
                return ["node(s) were unschedulable"], True
            if untolerated(pod, node, _HARD):
                return ["node(s) had untolerated taint(s)"], True
        if choosy and not matches_affinity(pod, node):
            return ["node(s) didn't match Pod's node affinity/selector"], True
        room, used = self._room.get(name, {}), self._used.get(name, {})
        reasons, final = [], False
        if used.get("pods", 0) + 1000 > room.get("pods", 110_000):
            reasons.append("Too many pods")
        for resource, amount in amounts.items():
            if amount and used.get(resource, 0) + amount > room.get(resource, 0):
                reasons.append(f"Insufficient {resource}")
                final = final or amount > room.get(resource, 0)
        return reasons, final

    def _fullness(self, name: str, amounts: Amounts) -> float:
        room, used = self._room.get(name, {}), self._used.get(name, {})
        return sum(used.get(r, 0) / room[r] for r in {*amounts, "cpu", "memory", "pods"} if room.get(r))

    def _bind(self, pod: Json, node: str) -> None:
        self._tools.cluster.bind(namespace_of(pod), name_of(pod), node)
        text = f"Successfully assigned {namespace_of(pod)}/{name_of(pod)} to {node}"
        self._tools.events.record(pod, "Pod", "Scheduled", text, "default-scheduler")

    def _explain(self, pod: Json, misfits: Counter[str], helpless: int, total: int) -> None:
        if total:
            counted = ", ".join(sorted(f"{count} {reason}" for reason, count in misfits.items()))
            no_help = {"Preemption is not helpful for scheduling": helpless,
                       "No preemption victims found for incoming pod": total - helpless}  # fmt: skip
            victims = ", ".join(sorted(f"{count} {reason}" for reason, count in no_help.items() if count))
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


def _waits(pod: Json) -> bool:
    return (
        not dig(pod, "spec", "nodeName")
        and not deleting(pod)
        and not dig(pod, "spec", "schedulingGates")
        and dig(pod, "spec", "schedulerName") == "default-scheduler"
        and dig(pod, "status", "phase") not in ("Succeeded", "Failed")
    )


def _moves(change: Change) -> bool:
    """Whether a node's change can matter to where pods fit: heartbeats do not."""
    if change.before is None:
        return True
    old, new = change.before.tree, change.after.tree
    paths = (("spec",), ("metadata", "labels"), ("status", "allocatable"), ("status", "capacity"))
    return any(dig(old, *path) != dig(new, *path) for path in paths)


def _tolerates_cordon(pod: Json) -> bool:
    cordon = {"spec": {"taints": [{"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}]}}
    return untolerated(pod, cordon, _HARD) is None
