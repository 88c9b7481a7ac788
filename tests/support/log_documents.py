"""Log documents as Filebeat ships them."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

Json = dict[str, Any]


def pod_line(
    at: datetime,
    message: str,
    *,
    node: str,
    namespace: str,
    pod: str,
    container: str,
    level: str = "",
    stream: str = "stdout",
    labels: Mapping[str, str] | None = None,
    offset: int = 0,
) -> Json:
    """The document of one line of a container. Dots in `labels` become `_`, as Filebeat's `labels.dedot` does."""
    kubernetes: Json = {
        "node": {"name": node},
        "namespace": namespace,
        "pod": {"name": pod},
        "container": {"name": container},
    }
    if labels:
        kubernetes["labels"] = {name.replace(".", "_"): value for name, value in labels.items()}
    line = _line(at, message, level, offset)
    return {**line, "stream": stream, "host": {"name": node}, "kubernetes": kubernetes}


def host_line(at: datetime, message: str, *, node: str, unit: str, level: str = "", offset: int = 0) -> Json:
    """The document of one line of a host's journal; `unit` is kernel, kubelet, containerd, …"""
    system = (
        {"syslog": {"identifier": "kernel"}}
        if unit == "kernel"
        else {"systemd": {"unit": f"{unit}.service"}, "syslog": {"identifier": unit}}
    )
    line = _line(at, message, level, offset)
    return {**line, "host": {"name": node}, "service": {"name": unit}, **system}


def _line(at: datetime, message: str, level: str, offset: int) -> Json:
    log: Json = {"offset": offset}
    if level:
        log["level"] = level
    when = at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return {"@timestamp": when, "message": message, "log": log}
