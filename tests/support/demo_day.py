"""A day of the demo's world in moments: its metrics as a file, and a real Prometheus that is asked without waiting."""

import asyncio
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from http.client import HTTPConnection
from itertools import cycle
from typing import Any
from urllib.parse import urlencode, urlsplit

from collectors.facts.queries import PromQLQuery
from collectors.facts.results import QueryResult, Sample, Seen
from collectors.sources.prometheus import wire
from demo.scenario import Fault, load_scenarios
from demo.world.exporters import coredns, dcgm, node
from demo.world.exporters.text import Family, number, series
from demo.world.history import CPU_MODES
from tests.demo.world.clusters import Cluster
from tests.support.routing import QuietSource

PACE = timedelta(seconds=30)  # between two samples of a series
FAULT_EVERY, FAULT_LASTS = timedelta(minutes=20), timedelta(minutes=14)
# What the rules query, and two processors of each node: their share is that of all.
_QUERIED = re.compile(
    "DCGM_FI_DEV_(GPU_TEMP|GPU_UTIL|XID_ERRORS|THERMAL_VIOLATION)|node_(memory_Mem|filesystem_|cpu_seconds|vmstat_oom)|coredns_"
)
_PROCESSORS = ("0", "1")
_NOT_PHYSICAL = frozenset(
    {"prometheus", "sent_alerts", "volume_format", "kubelet_silent", "rack_power", "error_burst"}
)  # no metric shows it


def metrics_of(cluster: Cluster, start: datetime, lasting: timedelta) -> Iterator[str]:
    """Yield the lines of an OpenMetrics file while the scenarios' faults come and go, one after the other."""
    faults = cycle(
        fault
        for scenario in load_scenarios().values()
        for fault in (*scenario.faults, *scenario.initial_faults)
        if fault.fault not in _NOT_PHYSICAL
    )
    state, known = cluster.state, dict[tuple[object, ...], str]()
    state.now = start
    active: Fault | None = None
    for number_ in range(lasting // PACE):
        cluster.run(int(PACE.total_seconds()), pace=10)
        since = (number_ * PACE) % FAULT_EVERY
        if since == timedelta():
            active = next(faults)
            cluster.faults.start(active.fault, **active.parameters)
        elif since == FAULT_LASTS and active is not None:
            cluster.faults.end(active.fault)
        when = f"{state.now.timestamp():.3f}"
        for job, instance, families in _targets(cluster):
            for family in families:
                if _QUERIED.match(family.name):
                    yield from _lines(family, job, instance, when, known)


def _targets(cluster: Cluster) -> Iterator[tuple[str, dict[str, str], Sequence[Family]]]:
    state = cluster.state
    for host in state.hosts.values():
        at = {"instance": f"{host.spec.address}:9100", "node": host.name}
        yield "node-exporter", at, node.families(host, state.now)
        if host.gpus:
            yield "dcgm-exporter", {"instance": at["instance"]}, dcgm.families(host, state.bodies)
    for key, server in state.dns.servers.items():
        yield "kube-dns", {"instance": key.name}, coredns.families(server, state.dns)


def _lines(
    family: Family, job: str, target: dict[str, str], when: str, known: dict[tuple[object, ...], str]
) -> Iterator[str]:
    for suffix, labels, value in family.samples:
        if labels.get("mode", "idle") not in CPU_MODES or labels.get("cpu", "0") not in _PROCESSORS:
            continue
        key = (job, *target.values(), family.name, suffix, *labels.values())
        if (name := known.get(key)) is None:
            moved = {
                (f"exported_{one}" if one in ("namespace", "pod", "container") else one): text
                for one, text in labels.items()
            }
            name = known[key] = series(family.name + suffix, {**moved, "job": job, **target})
        yield f"{name} {number(value)} {when}"


@dataclass(slots=True)
class DayClock:
    """A clock that follows the loop's time from `start` on."""

    start: datetime

    def now(self) -> datetime:
        return self.start + self.elapsed()

    def elapsed(self) -> timedelta:
        return timedelta(seconds=asyncio.get_running_loop().time())


@dataclass(slots=True)
class BlockingPrometheus(QuietSource):
    """Asks a server and waits: in virtual time no moment passes meanwhile."""

    url: str
    _connection: HTTPConnection = field(init=False)

    def __post_init__(self) -> None:
        self._connection = HTTPConnection(urlsplit(self.url).netloc, timeout=30)

    async def query(self, query: PromQLQuery, *, at: datetime) -> QueryResult:
        samples = self._samples(query.expr, at)
        present = None
        if query.presence is not None:
            present = tuple(sample.labels for sample in self._samples(query.presence, at))
        return Seen(source="prometheus", at=at, samples=samples, present=present)

    async def close(self) -> None:
        self._connection.close()

    def _samples(self, expr: str, at: datetime) -> tuple[Sample, ...]:
        form = urlencode({"query": expr, "time": f"{at.timestamp():.3f}"})
        headers = {"Content-Type": "application/x-www-form-urlencoded"}
        self._connection.request("POST", "/api/v1/query", body=form, headers=headers)
        body = self._connection.getresponse().read()
        return tuple(sample for batch in wire.instant(body, cap=50_000, skip=_refuse_odd) for sample in batch)


def _refuse_odd(*why: Any) -> None:
    raise AssertionError(why)
