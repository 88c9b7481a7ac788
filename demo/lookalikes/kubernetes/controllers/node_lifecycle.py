"""The node lifecycle: silent nodes become Unknown, conditions and cordons become taints, and taints evict pods."""

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
_MANAGED_TAINTS = {
    _PREFIX + key for key in ("not-ready", "unreachable", "unschedulable", *_PRESSURES.values())
}
_HEARTBEAT_CONDITIONS = ("Ready", "MemoryPressure", "DiskPressure", "PIDPressure")


class NodeLifecycle:
    """The node lifecycle controller, with taint eviction. Keys are nodes: ("", name)."""

    def __init__(self, tools: Tools, settings: Settings) -> None:
        self._tools = tools
        self._grace = settings.node_grace
        kinds = tools.cluster.kinds
        self._nodes, self._leases, self._pods = (
            kinds.named("nodes"),
            kinds.named("leases"),
            kinds.named("pods"),
        )
        self._last_heartbeat: dict[str, datetime] = {}  # node -> time of its last heartbeat, by our clock
        self._healthy: set[str] = set()
        self._unhealthy: set[str] = set()

    def concerns(self, change: Change) -> Iterable[ObjectKey]:
        tree = change.after.tree
        if change.kind.listing == "leases.coordination.k8s.io" and namespace_of(tree) == "kube-node-lease":
            if change.type != "DELETED":
                self._last_heartbeat[name_of(tree)] = self._tools.cluster.clock()
        elif change.kind.listing == "nodes":
            if _is_heartbeat(change):
                self._last_heartbeat[name_of(tree)] = self._tools.cluster.clock()
            had_healthy = bool(self._healthy)
            self._record_health(tree, gone=change.type == "DELETED")
            yield from own_key(change, "nodes")
            if bool(self._healthy) != had_healthy:
                yield from (("", name) for name in self._unhealthy)
        elif change.kind.listing == "pods" and change.type != "DELETED":
            node = dig(tree, "spec", "nodeName")
            if node and (change.before is None or dig(change.before.tree, "spec", "nodeName") != node):
                yield ("", node)

    def _record_health(self, node: Json, *, gone: bool) -> None:
        ready = (condition(node, "Ready") or {}).get("status") == "True"
        for names, member in ((self._healthy, ready), (self._unhealthy, not ready)):
            if member and not gone:
                names.add(name_of(node))
            else:
                names.discard(name_of(node))

    def reconcile(self, key: ObjectKey) -> datetime | None:
        node = self._tools.find(self._nodes, key)
        if node is None:
            self._last_heartbeat.pop(key[1], None)
            return None
        due = self._check_heartbeat(node)
        node = self._tools.cluster.get(self._nodes, *key).tree
        self._taint(node)
        node = self._tools.cluster.get(self._nodes, *key).tree
        next_eviction = self._evict_intolerant(node)
        return min((at for at in (due, next_eviction) if at is not None), default=None)

    def _check_heartbeat(self, node: Json) -> datetime | None:
        if self._grace is None:
            return None
        now = self._tools.cluster.clock()
        ends = self._last_heartbeat.setdefault(name_of(node), now) + self._grace
        if now < ends:
            return ends
        status = node.get("status") or {}
        conditions = list(status.get("conditions") or ())
        for kind in _HEARTBEAT_CONDITIONS:
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
            case _:  # a node that never reported
                wanted.append(("not-ready", "NoSchedule"))
        for kind, key in _PRESSURES.items():
            if (condition(node, kind) or {}).get("status") == "True":
                wanted.append((key, "NoSchedule"))
        if not self._healthy:  # all nodes are unhealthy: the fault is more likely ours, so evict nothing
            wanted = [(key, effect) for key, effect in wanted if effect != "NoExecute"]
        if dig(node, "spec", "unschedulable"):
            wanted.append(("unschedulable", "NoSchedule"))
        old = list(dig(node, "spec", "taints") or ())
        keys = {(_PREFIX + key, effect) for key, effect in wanted}
        kept = [t for t in old if t["key"] not in _MANAGED_TAINTS or (t["key"], t["effect"]) in keys]
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
        """Mark the pods on a silent node as not ready."""
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

    def _evict_intolerant(self, node: Json) -> datetime | None:
        """Delete the pods that no longer tolerate the node, and return when the next one is due."""
        taints = [t for t in dig(node, "spec", "taints") or () if t.get("effect") == "NoExecute"]
        now = self._tools.cluster.clock()
        due: datetime | None = None
        for pod in self._tools.indexes.on_node(name_of(node)) if taints else ():
            if deleting(pod):
                continue
            ends = _eviction_time(pod, taints, now)
            if ends is None:
                continue
            if ends <= now:
                self._evict(pod)
            else:
                due = min(due, ends) if due else ends
        return due

    def _evict(self, pod: Json) -> None:
        status = pod.get("status") or {}
        target = {"type": "DisruptionTarget", "status": "True", "reason": "DeletionByTaintManager",
                "message": "Taint manager: deleting due to NoExecute taint"}  # fmt: skip
        conditions = with_condition(status.get("conditions") or [], target, self._tools.cluster.clock())
        self._tools.cluster.set_status(
            self._pods, namespace_of(pod), name_of(pod), {**status, "conditions": conditions}
        )
        text = f"Marking for deletion Pod {namespace_of(pod)}/{name_of(pod)}"
        self._tools.events.record(pod, "Pod", "TaintManagerEviction", text, "taint-eviction-controller")
        self._tools.cluster.delete(self._pods, namespace_of(pod), name_of(pod))


def _eviction_time(pod: Json, taints: list[Json], now: datetime) -> datetime | None:
    """Return when the pod must be evicted; None when it may stay."""
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


def _is_heartbeat(change: Change) -> bool:
    """Whether a node's change is a heartbeat: the Ready condition is new or was updated, and is not Unknown."""
    new = condition(change.after.tree, "Ready")
    if change.before is None:
        return True
    old = condition(change.before.tree, "Ready")
    return new is not None and new.get("status") != "Unknown" and new != old
