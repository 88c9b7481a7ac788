"""This file has the shape of the demo's log documents, as Filebeat would ship them, and their index template."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

Json = dict[str, Any]

PATTERN = "filebeat-*"  # what the source is told to search
TEMPLATE_NAME = "filebeat-demo"

_KEYWORD: Json = {"type": "keyword", "ignore_above": 1024}
_NAME: Json = {"properties": {"name": _KEYWORD}}

# What Filebeat's own template says of these fields, and nothing of its other thousands.
TEMPLATE: Json = {
    "index_patterns": [PATTERN],
    "priority": 200,
    "template": {
        "settings": {"number_of_shards": 1, "number_of_replicas": 0, "refresh_interval": "1s"},
        "mappings": {
            "dynamic": True,
            "dynamic_templates": [{"texts": {"match_mapping_type": "string", "mapping": _KEYWORD}}],
            "properties": {
                "@timestamp": {"type": "date"},
                "message": {"type": "text"},
                "stream": _KEYWORD,
                "log": {"properties": {"level": _KEYWORD, "offset": {"type": "long"}}},
                "host": _NAME,
                "service": _NAME,
                "systemd": {"properties": {"unit": _KEYWORD}},
                "syslog": {"properties": {"identifier": _KEYWORD, "priority": {"type": "long"}}},
                "kubernetes": {
                    "properties": {
                        "node": _NAME,
                        "namespace": _KEYWORD,
                        "pod": {"properties": {"name": _KEYWORD, "uid": _KEYWORD}},
                        "container": _NAME,
                    }
                },
            },
        },
    },
}


def index_of(at: datetime) -> str:
    """The daily index of a document: `filebeat-8.19-2026.11.21`."""
    return f"filebeat-8.19-{at.astimezone(UTC):%Y.%m.%d}"


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
