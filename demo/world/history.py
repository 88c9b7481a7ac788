"""Simulated history: fast-forwarded physics, written as samples with the labels of later scrapes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from datetime import datetime, timedelta
from pathlib import Path
from typing import Protocol, TextIO

from demo.world.exporters.server import Exporters
from demo.world.exporters.text import Family, number, series
from demo.world.kube.api import Object
from demo.world.kube.cache import ObjectCache
from demo.world.scrape_config import series_labels, target_labels
from demo.world.state import Phase, State

PACE = timedelta(seconds=60)  # of the simulation
SAMPLED_EVERY = 2  # so many steps: two minutes are within Prometheus' lookback, and the demo starts sooner
# The last samples are closer: rules of the demo have windows of a minute or less, and see nothing in such a gap.
CLOSE_PACE = timedelta(seconds=15)
CLOSE_FOR = timedelta(minutes=3)
CPU_MODES = ("idle", "iowait", "system", "user")

# Metrics that rules and commands query over a range. Other metrics start with the first scrape.
RECORDED = frozenset(
    {
        "DCGM_FI_DEV_SM_CLOCK",
        "DCGM_FI_DEV_GPU_TEMP",
        "DCGM_FI_DEV_MEMORY_TEMP",
        "DCGM_FI_DEV_POWER_USAGE",
        "DCGM_FI_DEV_GPU_UTIL",
        "DCGM_FI_DEV_FB_USED",
        "DCGM_FI_DEV_XID_ERRORS",
        "DCGM_FI_DEV_THERMAL_VIOLATION",
        "DCGM_FI_PROF_PIPE_TENSOR_ACTIVE",
        "node_cpu_seconds_total",
        "node_load1",
        "node_memory_MemAvailable_bytes",
        "node_memory_MemTotal_bytes",
        "node_vmstat_oom_kill",
        "node_filesystem_avail_bytes",
        "node_filesystem_size_bytes",
        "node_network_receive_bytes_total",
        "node_network_transmit_bytes_total",
        "node_boot_time_seconds",
        "node_uname_info",
        "coredns_dns_requests_total",
        "coredns_dns_responses_total",
        "coredns_dns_request_duration_seconds",
        "coredns_panics_total",
        "ceph_health_status",
        "ceph_osd_up",
        "ceph_pool_stored",
        "kube_node_info",
        "kube_node_status_condition",
        "kube_node_status_capacity",
        "kube_node_status_allocatable",
        "kube_node_spec_unschedulable",
        "kube_pod_info",
        "kube_deployment_status_replicas_available",
        "kube_service_info",
        "kube_job_status_active",
        "kubelet_volume_stats_used_bytes",
        "kubelet_volume_stats_capacity_bytes",
        "kubelet_node_name",
        "container_memory_working_set_bytes",
        "training_steps_total",
        "training_step_duration_seconds",
        "training_loss",
        "training_checkpoint_timestamp_seconds",
    }
)
OBJECTS_EVERY = (
    4  # so many steps: of kube-state-metrics fewer suffice, within Prometheus' lookback of five minutes
)
HONOR_LABELS = frozenset({"kube-state-metrics", "kubelet"})
YIELD_EVERY = 5  # samples between yields to the event loop


class Simulation(Protocol):
    """The parts of the world that `simulate_history` uses."""

    state: State
    exporters: Exporters
    cache: ObjectCache

    def move(self, dt: timedelta, now: datetime) -> None: ...


class Samples:
    """OpenMetrics text in time order, for `promtool tsdb create-blocks-from openmetrics`."""

    def __init__(self, file: TextIO, services: list[Object], addresses: Mapping[str, str]) -> None:
        self._file = file
        self._services = services
        self._addresses = addresses
        self._series: dict[tuple[str, ...], str] = {}
        self.count = 0

    def take(self, exporters: Exporters, at: datetime, *, with_objects: bool) -> None:
        """Write one scrape of all targets; of kube-state-metrics only if `with_objects`."""
        when = f"{at.timestamp():.3f}"
        lines: list[str] = []
        for target in exporters.targets():
            labels = target_labels(target, self._services, self._addresses.get(target.address, ""))
            if labels is None or (labels["job"] == "kube-state-metrics" and not with_objects):
                continue
            lines.append(f"{series('up', labels)} 1 {when}\n")
            target_url = f"{target.address}:{target.port}{target.path}"
            for family in target.answer():
                if family.name in RECORDED:
                    lines += self._of_family(family, labels, target_url, when)
        self._file.write("".join(lines))
        self.count += len(lines)

    def _of_family(self, family: Family, target: dict[str, str], url: str, when: str) -> Iterator[str]:
        for suffix, labels, value in family.samples:
            if labels.get("mode", "idle") not in CPU_MODES:
                continue
            key = (url, family.name, suffix, *labels.values())
            left = self._series.get(key)
            if left is None:
                joined = series_labels(dict(labels), target, honor=target["job"] in HONOR_LABELS)
                left = self._series[key] = series(family.name + suffix, joined)
            yield f"{left} {number(value)} {when}\n"

    def end(self) -> None:
        self._file.write("# EOF\n")


async def simulate_history(
    world: Simulation, past: timedelta, file: Path | None, *, clock: Callable[[], datetime]
) -> None:
    """Advance the world from `past` ago to now in steps of a minute or less, and write its scrapes to `file`.

    Nothing else may advance the world meanwhile. Counters end where the first live scrape continues.
    """
    state = world.state
    end = clock()
    start = end - past
    state.now = start
    for training in state.trainings.values():
        training.enter(Phase.WAITING, start)
        training.checkpoint_at = training.checkpoint_at and start
    with ExitStack() as stack:
        samples = None
        if file is not None:
            opened = stack.enter_context(file.open("w", encoding="utf-8"))
            addresses = {host.spec.address: name for name, host in state.hosts.items()}
            samples = Samples(opened, list(world.cache.all("Service")), addresses)
        for index, at in enumerate(_moments(start, end)):
            world.move(at - state.now, at)
            is_sampled = index % SAMPLED_EVERY == 0 or at > end - CLOSE_FOR
            if samples is not None and is_sampled:
                samples.take(world.exporters, at, with_objects=index % OBJECTS_EVERY == 0)
            if index % YIELD_EVERY == 0:
                await asyncio.sleep(0)
        now = clock()
        world.move(now - state.now, now)
        if samples is not None:
            samples.end()


def _moments(start: datetime, end: datetime) -> Iterator[datetime]:
    at = start
    while (at := at + (PACE if at + PACE <= end - CLOSE_FOR else CLOSE_PACE)) <= end:
        yield at
