"""Lines of logs in the shapes of three shippers: Filebeat, Fluent Bit and Elastic Agent with their own fields."""

from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from elasticsearch import AsyncElasticsearch

from collectors.sources.elasticsearch.options import ElasticsearchOptions
from collectors.sources.elasticsearch.source import ElasticsearchSource

Document = dict[str, Any]
INDICES = "filebeat-*,node-*,logs-*"


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A line of a host's journal, of the kernel or of a unit, or of a container of that name in `kube-system`.

    `level` is empty where no field has it.
    """

    at: datetime
    node: str
    unit: str
    text: str
    level: str = ""
    is_container: bool = False


def _in_pod(line: Line) -> Document:
    """The fields of Filebeat's and Elastic Agent's metadata of pods."""
    pod = {"name": f"{line.unit}-x2x2x"}
    place: Document = {"node": {"name": line.node}, "namespace": "kube-system", "pod": pod}
    return {"kubernetes": {**place, "container": {"name": line.unit}}} if line.is_container else {}


def _time(line: Line) -> str:
    return line.at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _filebeat(line: Line) -> Document:
    """Filebeat's input journald."""
    found: Document = {
        "@timestamp": _time(line),
        "message": line.text,
        "host": {"name": line.node},
        "input": {"type": "journald"},
        "syslog": {"identifier": line.unit},
    }
    if line.is_container:
        found = {**found, "input": {"type": "container"}, **_in_pod(line)}
    elif line.unit != "kernel":
        found["systemd"] = {"unit": f"{line.unit}.service"}
    return {**found, **({"log": {"level": line.level}} if line.level else {})}


def _fluent_bit(line: Line) -> Document:
    """Fluent Bit's inputs systemd and tail."""
    if line.is_container:
        pod = {"pod_name": f"{line.unit}-x2x2x", "namespace_name": "kube-system", "host": line.node}
        names = {**pod, "container_name": line.unit}
        return {"@timestamp": _time(line), "log": line.text, "stream": "stderr", "kubernetes": names}
    found: Document = {
        "@timestamp": _time(line),
        "MESSAGE": line.text,
        "_HOSTNAME": line.node,
        "SYSLOG_IDENTIFIER": line.unit,
    }
    if line.unit != "kernel":
        found["_SYSTEMD_UNIT"] = f"{line.unit}.service"
    return {**found, **({"PRIORITY": "3"} if line.level else {})}


def _elastic_agent(line: Line) -> Document:
    """Elastic Agent's integration for system logs, in a data stream."""
    return {
        "@timestamp": _time(line),
        "message": line.text,
        "host": {"name": line.node, "hostname": line.node, "os": {"type": "linux"}},
        "process": {"name": line.unit},
        "agent": {"type": "filebeat"},
        "data_stream": {"type": "logs", "dataset": "system.syslog", "namespace": "default"},
        **({"log": {"level": line.level}} if line.level else {}),
        **_in_pod(line),
    }


SHIPPERS: Mapping[str, tuple[str, Callable[[Line], Document]]] = {
    "Filebeat": ("filebeat-8.19.0", _filebeat),
    "Fluent Bit": ("node-2026.01", _fluent_bit),
    "Elastic Agent": ("logs-system.syslog-default", _elastic_agent),
}


async def shipped(url: str, shipper: str, lines: Iterable[Line]) -> None:
    """Index the lines as this shipper does."""
    index, shape = SHIPPERS[shipper]
    action = {"create": {"_index": index}}
    operations = [part for line in lines for part in (action, shape(line))]
    client = AsyncElasticsearch(url)
    try:
        result = await client.bulk(operations=operations, refresh=True)
        assert not result["errors"], result["items"][:1]
    finally:
        await client.close()


@asynccontextmanager
async def source_of(url: str, index: str = INDICES) -> AsyncIterator[ElasticsearchSource]:
    """The source of these logs."""
    source = ElasticsearchSource(ElasticsearchOptions(urls=(url,), index=index, lag=timedelta()))
    try:
        yield source
    finally:
        await source.close()


def quiet_lines(start: datetime, end: datetime) -> Iterator[Line]:
    """Yield what a healthy node logs every minute, without levels and in the words of klog and of the kernel."""
    at = start
    while at < end:
        stamp = f"{at:%m%d %H:%M:%S.%f}"
        yield Line(
            at=at,
            node="gpu-std",
            unit="kubelet",
            text=f"I{stamp}    1234 reconciler_common.go:251] operationExecutor.VerifyControllerAttachedVolume started",
        )
        yield Line(
            at=at,
            node="gpu-op",
            unit="kernel",
            text="IPv6: ADDRCONF(NETDEV_CHANGE): cali1: link becomes ready",
        )
        yield Line(
            at=at, node="gpu-std", unit="coredns", text="[INFO] plugin/reload: no change", is_container=True
        )
        at += timedelta(minutes=1)
