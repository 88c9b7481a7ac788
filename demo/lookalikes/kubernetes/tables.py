"""Tables of objects, as the real server prints them for kubectl: columns are functions of an object."""

from collections.abc import Callable
from datetime import datetime
from typing import Any

from demo.lookalikes.kubernetes.eviction import ready
from demo.lookalikes.kubernetes.objects import (
    Json,
    condition,
    deleting,
    dig,
    labels_of,
    metadata,
    moment_of,
    name_of,
)

Column = tuple[str, Callable[[Json, datetime], Any]]


def age(since: str | None, now: datetime) -> str:
    """Return the time since then in the format of kubectl: 45s, 12m, 3h, 2d."""
    if not since:
        return "<unknown>"
    seconds = max(int((now - (moment_of(since) or now)).total_seconds()), 0)
    for unit, size in (("d", 86400), ("h", 3600), ("m", 60)):
        if seconds >= 2 * size:
            return f"{seconds // size}{unit}"
    return f"{seconds}s"


def _created(tree: Json, now: datetime) -> str:
    return age(metadata(tree).get("creationTimestamp"), now)


def _node_status(node: Json, _: datetime) -> str:
    state = (condition(node, "Ready") or {}).get("status")
    text = {"True": "Ready", "False": "NotReady", "Unknown": "NotReady"}.get(str(state), "Unknown")
    return f"{text},SchedulingDisabled" if dig(node, "spec", "unschedulable") else text


def _roles(node: Json, _: datetime) -> str:
    prefix = "node-role.kubernetes.io/"
    roles = sorted(key.removeprefix(prefix) for key in labels_of(node) if key.startswith(prefix))
    return ",".join(roles) or "<none>"


def _pod_status(pod: Json, _: datetime) -> str:
    for status in dig(pod, "status", "containerStatuses") or ():
        for state in ("waiting", "terminated"):
            if reason := dig(status, "state", state, "reason"):
                return str(reason)
    return (
        "Terminating" if deleting(pod) else str(dig(pod, "status", "reason") or dig(pod, "status", "phase"))
    )


def _ready_containers(pod: Json, _: datetime) -> str:
    statuses = dig(pod, "status", "containerStatuses") or ()
    total = len(dig(pod, "spec", "containers") or ())
    count = sum(bool(s.get("ready")) for s in statuses) if statuses else total * ready(pod)
    return f"{count}/{total}"


def _restarts(pod: Json, _: datetime) -> int:
    return sum(s.get("restartCount", 0) for s in dig(pod, "status", "containerStatuses") or ())


def _at(*path: str, absent: Any = "<none>") -> Callable[[Json, datetime], Any]:
    def read(tree: Json, _: datetime) -> Any:
        found = dig(tree, *path)
        return absent if found is None else found

    return read


def _service_ports(service: Json, _: datetime) -> str:
    ports = dig(service, "spec", "ports") or ()
    return ",".join(f"{port['port']}/{port.get('protocol', 'TCP')}" for port in ports) or "<none>"


def _job_status(job: Json, _: datetime) -> str:
    for kind in ("Complete", "Failed", "Suspended"):
        if (condition(job, kind) or {}).get("status") == "True":
            return kind
    return "Running"


def _completions(job: Json, _: datetime) -> str:
    return f"{dig(job, 'status', 'succeeded') or 0}/{dig(job, 'spec', 'completions') or 1}"


def _ready_replicas(tree: Json, _: datetime) -> str:
    return f"{dig(tree, 'status', 'readyReplicas') or 0}/{dig(tree, 'spec', 'replicas') or 0}"


_COLUMNS: dict[str, tuple[Column, ...]] = {
    "nodes": (
        ("Status", _node_status),
        ("Roles", _roles),
        ("Age", _created),
        ("Version", _at("status", "nodeInfo", "kubeletVersion", absent="")),
    ),
    "pods": (
        ("Ready", _ready_containers),
        ("Status", _pod_status),
        ("Restarts", _restarts),
        ("Age", _created),
        ("IP", _at("status", "podIP")),
        ("Node", _at("spec", "nodeName")),
    ),
    "services": (
        ("Type", _at("spec", "type")),
        ("Cluster-IP", _at("spec", "clusterIP")),
        ("Port(s)", _service_ports),
        ("Age", _created),
    ),
    "namespaces": (("Status", _at("status", "phase")), ("Age", _created)),
    "events": (
        ("Last Seen", lambda tree, now: age(tree.get("lastTimestamp"), now)),
        ("Type", _at("type")),
        ("Reason", _at("reason")),
        (
            "Object",
            lambda tree, _: f"{dig(tree, 'involvedObject', 'kind')}/{dig(tree, 'involvedObject', 'name')}",
        ),
        ("Message", _at("message")),
    ),
    "deployments.apps": (
        ("Ready", _ready_replicas),
        ("Up-to-date", _at("status", "updatedReplicas", absent=0)),
        ("Available", _at("status", "availableReplicas", absent=0)),
        ("Age", _created),
    ),
    "replicasets.apps": (
        ("Desired", _at("spec", "replicas", absent=0)),
        ("Current", _at("status", "replicas", absent=0)),
        ("Ready", _at("status", "readyReplicas", absent=0)),
        ("Age", _created),
    ),
    "statefulsets.apps": (("Ready", _ready_replicas), ("Age", _created)),
    "jobs.batch": (("Status", _job_status), ("Completions", _completions), ("Age", _created)),
}
_PLAIN: tuple[Column, ...] = (("Age", _created),)


def table(listing: str, trees: list[Json], meta: dict[str, object], now: datetime) -> Json:
    """Return a `meta.k8s.io/v1 Table` of the objects."""
    columns = _COLUMNS.get(listing, _PLAIN)
    definitions = [{"name": "Name", "type": "string", "format": "name", "description": "", "priority": 0}]
    definitions += [
        {"name": name, "type": "string", "format": "", "description": "", "priority": 0}
        for name, _ in columns
    ]
    rows = [
        {
            "cells": [name_of(tree), *(read(tree, now) for _, read in columns)],
            "object": {
                "kind": "PartialObjectMetadata",
                "apiVersion": "meta.k8s.io/v1",
                "metadata": tree["metadata"],
            },
        }
        for tree in trees
    ]
    return {"kind": "Table", "apiVersion": "meta.k8s.io/v1", "metadata": meta, "columnDefinitions": definitions,
            "rows": rows}  # fmt: skip
