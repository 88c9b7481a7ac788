"""A log line and its Filebeat document."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from demo.world.shared_services import PodKey
from demo.world.state import State

Document = dict[str, Any]

PRIORITIES = {"debug": 7, "info": 6, "notice": 5, "warning": 4, "error": 3, "fatal": 2}
LETTERS = {"info": "I", "warning": "W", "error": "E", "fatal": "F"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A log line. A pod's line has `pod`, a host's has `unit` (kernel, kubelet, containerd …)."""

    at: datetime
    text: str
    level: str = "info"
    node: str | None = None
    unit: str | None = None
    pod: PodKey | None = None
    container: str = ""
    stderr: bool = True
    shows_level: bool = True  # whether the shipper finds the severity in the text


def klog(at: datetime, level: str, source: str, message: str) -> str:
    """Return a line with klog's header, which has neither year nor time zone."""
    return f"{LETTERS[level]}{at:%m%d %H:%M:%S.%f}    2147 {source}] {message}"


def stamp(at: datetime) -> str:
    return at.strftime("%Y-%m-%dT%H:%M:%S.") + f"{at.microsecond // 1000:03d}Z"


def document(line: Line, state: State) -> Document | None:
    """Return the document to ship, or None when the line's server has no power."""
    body = state.bodies.get(line.pod) if line.pod else None
    node = line.node or (body.node if body else None)
    host = state.hosts.get(node or "")
    if host is None or not host.powered:
        return None
    result: Document = {
        "@timestamp": stamp(line.at),
        "message": line.text,
        "ecs": {"version": "8.0.0"},
        "agent": {"type": "filebeat", "name": host.name, "version": "8.19.0"},
        "host": {"name": host.name, "ip": [host.spec.address]},
        "event": {"dataset": "system.syslog" if line.pod is None else "kubernetes.container_logs"},
    }
    if line.shows_level:
        result["log"] = {"level": line.level}
    kubernetes: Document = {"node": {"name": host.name}}
    if line.pod is None:
        result |= _of_host(line)
    else:
        labels = {
            key.replace(".", "_"): value for key, value in (body.labels if body else {}).items()
        }  # dedotted
        container = line.container or (body.container if body else "")
        uid = body.uid if body else ""
        identity = hashlib.sha256(f"{line.pod}{container}".encode()).hexdigest()
        kubernetes |= {
            "namespace": line.pod.namespace,
            "pod": {"name": line.pod.name, "uid": uid},
            "container": {"name": container},
            "labels": labels,
        }
        result |= {
            "stream": "stderr" if line.stderr else "stdout",
            "input": {"type": "filestream"},
            "container": {"id": identity},
        }
        path = f"/var/log/containers/{line.pod.name}_{line.pod.namespace}_{container}-{identity}.log"
        result["log"] = {**result.get("log", {}), "file": {"path": path}}
    result["kubernetes"] = kubernetes
    return result


def _of_host(line: Line) -> Document:
    unit = line.unit or "kernel"
    priority = PRIORITIES[line.level] if line.shows_level or unit == "kernel" else 6
    result: Document = {"input": {"type": "journald"}, "syslog": {"identifier": unit, "priority": priority}}
    result["systemd"] = (
        {"transport": "kernel"} if unit == "kernel" else {"transport": "stdout", "unit": f"{unit}.service"}
    )
    return result
