"""This file watches over nodes: silent ones turn Unknown, conditions and cordons become taints, pods are put out."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta

from demo.lookalikes.kubernetes.controllers.controller import Settings
from demo.lookalikes.kubernetes.controllers.indexes import own_key
from demo.lookalikes.kubernetes.controllers.placement import covers
from demo.lookalikes.kubernetes.controllers.podmaking import Tools
from demo.lookalikes.kubernetes.objects import (
    Json,
    condition,
    deleting,
    dig,
    moment_of,
    name_of,
    namespace_of,
    stamp,
    with_condition,
    with_value,
)
from demo.lookalikes.kubernetes.store import Change, ObjectKey

_PREFIX = "node.kubernetes.io/"
_PRESSURES = {
    "MemoryPressure": "memory-pressure",
    "DiskPressure": "disk-pressure",
    "PIDPressure": "pid-pressure",
    "NetworkUnavailable": "network-unavailable",
}
_OURS = {_PREFIX + key for key in ("not-ready", "unreachable", "unschedulable", *_PRESSURES.values())}
_SILENT = ("Ready", "MemoryPressure", "DiskPressure", "PIDPressure")


class NodeLife:
    """The node lifecycle controller and its eviction by taints. Keys are nodes: ("", name)."""

    def __init__(self, tools: Tools, settings: Settings) -> None:
        self._tools = tools
        self._grace = settings.node_grace
        kinds = tools.cluster.kinds
        self._nodes, self._leases, self._pods = (
            kinds.named("nodes"),
            kinds.named("leases"),
            kinds.named("pods"),
        )
        self._heard: dict[str, datetime] = {}  # node -> when its last sign of life was seen here
        self._healthy: set[str] = set()
        self._sick: set[str] = set()

    def concerns(self, change: Change) -> Iterable[ObjectKey]:
        tree = change.after.tree
        if change.kind.listing == "leases.coordination.k8s.io" and namespace_of(tree) == "kube-node-lease":
            if change.type != "DELETED":
                self._heard[name_of(tree)] = self._tools.cluster.clock()
        elif change.kind.listing == "nodes":
            if _beat(change):
                self._heard[name_of(tree)] = self._tools.cluster.clock()
            any_before = bool(self._healthy)
            self._note_health(tree, gone=change.type == "DELETED")
            yield from own_key(change, "nodes")
            if bool(self._healthy) != any_before:
                yield from (("", name) for name in self._sick)
        elif change.kind.listing == "pods" and change.type != "DELETED":
            node = dig(tree, "spec", "nodeName")
            if node and (change.before is None or dig(change.before.tree, "spec", "nodeName") != node):
                yield ("", node)

    def _note_health(self, node: Json, *, gone: bool) -> None:
        ready = (condition(node, "Ready") or {}).get("status") == "True"
        for names, member in ((self._healthy, ready), (self._sick, not ready)):
            if member and not gone:
                names.add(name_of(node))
            else:
                names.discard(name_of(node))

    def reconcile(self, key: ObjectKey) -> datetime | None:
        node = self._tools.find(self._nodes, key)
        if node is None:
            self._heard.pop(key[1], None)
            return None
        due = self._judge_silence(node)
        node = self._tools.cluster.get(self._nodes, *key).tree
        self._taint(node)
        node = self._tools.cluster.get(self._nodes, *key).tree
        put_out = self._put_out(node)
        return min((at for at in (due, put_out) if at is not None), default=None)

    def _judge_silence(self, node: Json) -> datetime | None:
        if self._grace is None:
            return None
        now = self._tools.cluster.clock()
        ends = self._heard.setdefault(name_of(node), now) + self._grace
        if now < ends:
            return ends
        status = node.get("status") or {}
        conditions = list(status.get("conditions") or ())
        for kind in _SILENT:
            old = next((c for c in conditions if c.get("type") == kind), None)
            if old is not None and old.get("status") == "Unknown":
                continue
            reason, text = "NodeStatusUnknown", "Kubelet stopped posting node status."
            if old is None:
                reason, text = "NodeStatusNeverUpdated", "Kubelet never posted node status."
            wanted = {**(old or {"lastHeartbeatTime": dig(node, "metadata", "creationTimestamp")}),
                      "type": kind, "status": "Unknown", "reason": reason, "message": text}  # fmt: skip
            conditions = with_condition(conditions, wanted, now)
        if conditions != status.get("conditions"):
            self._tools.cluster.set_status(
                self._nodes, "", name_of(node), {**status, "conditions": conditions}
            )
            text = f"Node {name_of(node)} status is now: KubeNodeNotReady"
            self._tools.events.record(node, "Node", "KubeNodeNotReady", text, "node-controller")
            self._unready_pods(node)
        return None

    def _taint(self, node: Json) -> None:
        now = stamp(self._tools.cluster.clock())
        wanted: list[tuple[str, str]] = []
        match (condition(node, "Ready") or {}).get("status"):
            case "True":
                pass
            case "False":
                wanted += [("not-ready", "NoSchedule"), ("not-ready", "NoExecute")]
            case "Unknown":
                wanted += [("unreachable", "NoSchedule"), ("unreachable", "NoExecute")]
            case _:  # a node that never said anything
                wanted.append(("not-ready", "NoSchedule"))
        for kind, key in _PRESSURES.items():
            if (condition(node, kind) or {}).get("status") == "True":
                wanted.append((key, "NoSchedule"))
        if not self._healthy:  # all are sick: more likely we are, so nobody is put out
            wanted = [(key, effect) for key, effect in wanted if effect != "NoExecute"]
        if dig(node, "spec", "unschedulable"):
            wanted.append(("unschedulable", "NoSchedule"))
        old = list(dig(node, "spec", "taints") or ())
        keys = {(_PREFIX + key, effect) for key, effect in wanted}
        kept = [t for t in old if t["key"] not in _OURS or (t["key"], t["effect"]) in keys]
        have = {(t["key"], t["effect"]) for t in kept}
        for key, effect in wanted:
            if (_PREFIX + key, effect) not in have:
                kept.append({"key": _PREFIX + key, "effect": effect, "timeAdded": now})
        if kept != old:
            self._tools.cluster.patch(
                self._nodes,
                "",
                name_of(node),
                lambda tree: with_value(tree, ("spec", "taints"), kept or None),
            )

    def _unready_pods(self, node: Json) -> None:
        """Say of the pods on a node that went silent that they are not ready."""
        for pod in self._tools.indexes.on_node(name_of(node)):
            old = condition(pod, "Ready")
            if old is None or old["status"] != "True":
                continue
            status = pod["status"]
            conditions = with_condition(
                status["conditions"], {**old, "status": "False"}, self._tools.cluster.clock()
            )
            self._tools.cluster.set_status(
                self._pods, namespace_of(pod), name_of(pod), {**status, "conditions": conditions}
            )

    def _put_out(self, node: Json) -> datetime | None:
        """Delete pods that do not tolerate the node any more; returns when the next one's time is up."""
        taints = [t for t in dig(node, "spec", "taints") or () if t.get("effect") == "NoExecute"]
        now = self._tools.cluster.clock()
        due: datetime | None = None
        for pod in self._tools.indexes.on_node(name_of(node)) if taints else ():
            if deleting(pod):
                continue
            ends = _time_left(pod, taints, now)
            if ends is None:
                continue
            if ends <= now:
                self._evict(pod)
            else:
                due = min(due, ends) if due else ends
        return due

    def _evict(self, pod: Json) -> None:
        status = pod.get("status") or {}
        mark = {"type": "DisruptionTarget", "status": "True", "reason": "DeletionByTaintManager",
                "message": "Taint manager: deleting due to NoExecute taint"}  # fmt: skip
        conditions = with_condition(status.get("conditions") or [], mark, self._tools.cluster.clock())
        self._tools.cluster.set_status(
            self._pods, namespace_of(pod), name_of(pod), {**status, "conditions": conditions}
        )
        text = f"Marking for deletion Pod {namespace_of(pod)}/{name_of(pod)}"
        self._tools.events.record(pod, "Pod", "TaintManagerEviction", text, "taint-eviction-controller")
        self._tools.cluster.delete(self._pods, namespace_of(pod), name_of(pod))


def _time_left(pod: Json, taints: list[Json], now: datetime) -> datetime | None:
    """Return when the pod must go; None when it may stay."""
    ends: datetime | None = None
    for taint in taints:
        covering = [t for t in dig(pod, "spec", "tolerations") or () if covers(t, taint)]
        if not covering:
            return now
        limits = [t["tolerationSeconds"] for t in covering if t.get("tolerationSeconds") is not None]
        if limits:
            since = moment_of(taint.get("timeAdded")) or now
            at = since + timedelta(seconds=max(min(limits), 0))
            ends = min(ends, at) if ends else at
    return ends


def _beat(change: Change) -> bool:
    """Whether a node's change is a sign of life: a new heartbeat, or a Ready condition set anew."""
    new = condition(change.after.tree, "Ready")
    if change.before is None:
        return True
    old = condition(change.before.tree, "Ready")
    return new is not None and new.get("status") != "Unknown" and new != old
