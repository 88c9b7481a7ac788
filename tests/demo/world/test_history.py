"""Simulated history: its OpenMetrics file, and its continuation in a real Prometheus."""

import asyncio
import re
from datetime import timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from demo.parts.prometheus import PrometheusServer, find_promtool, import_openmetrics
from tests.demo.world.test_world import running_world
from tests.real.fixtures import present_or_skip

Json = dict[str, Any]

CONTINUOUS = (
    "up",
    "DCGM_FI_DEV_GPU_TEMP",
    "DCGM_FI_DEV_XID_ERRORS",
    "node_load1",
    "node_memory_MemAvailable_bytes",
    "kube_node_info",
    "kube_pod_info",
    "coredns_dns_request_duration_seconds_bucket",
    "training_steps_total",
    "ceph_osd_up",
    "kubelet_volume_stats_used_bytes",
    "container_memory_working_set_bytes",
)


async def test_the_history_is_openmetrics_in_time_order(tmp_path: Path) -> None:
    file = tmp_path / "past.om"
    async with running_world(samples=file):
        text = file.read_text()
    lines = text.splitlines()
    assert lines[-1] == "# EOF"
    moments = [float(line.rsplit(" ", 1)[1]) for line in lines[:-1]]
    assert moments == sorted(moments)
    times = sorted(set(moments))
    apart = [round(later - earlier) for earlier, later in pairwise(times)]
    assert apart == sorted(apart, reverse=True)
    assert set(apart) == {120, 15}, "one sample every two minutes, and more shortly before the first scrape"
    assert times[-1] - times[apart.index(15)] >= 150
    assert re.search(
        r'^DCGM_FI_DEV_GPU_UTIL\{.*exported_pod="detr-worker-0-.*job="dcgm-exporter"', text, re.MULTILINE
    )


@pytest.mark.real
async def test_a_real_prometheus_scrapes_everything_and_continues_the_history(tmp_path: Path) -> None:
    present_or_skip(find_promtool)
    file = tmp_path / "past.om"
    async with running_world(samples=file, past=timedelta(minutes=30)) as (_, world):
        await asyncio.to_thread(import_openmetrics, file, tmp_path)
        config = world.prometheus_config(every=timedelta(seconds=1))
        async with (
            PrometheusServer(config=config, folder=tmp_path) as server,
            aiohttp.ClientSession(f"{server.url}/api/v1/") as session,
        ):

            async def get(path: str, **params: str) -> Any:
                async with session.get(path, params=params) as reply:
                    return (await reply.json())["data"]

            targets = await _all_scraped(get)
            assert {t["health"] for t in targets} == {"up"}, [
                t["lastError"] for t in targets if t["health"] != "up"
            ]
            jobs = {t["labels"]["job"] for t in targets}
            assert jobs >= {
                "dcgm-exporter",
                "node-exporter",
                "kube-state-metrics",
                "kube-dns",
                "rook-ceph-mgr",
                "kubelet",
                "detr-worker",
            }
            end = world.now
            past = {
                "start": str((end - timedelta(minutes=29)).timestamp()),
                "end": str((end - timedelta(minutes=5)).timestamp()),
            }
            live = {
                "start": str((end - timedelta(seconds=20)).timestamp()),
                "end": str((end + timedelta(minutes=1)).timestamp()),
            }
            for name in CONTINUOUS:
                before = {tuple(sorted(s.items())) for s in await get("series", **{"match[]": name}, **past)}
                after = {tuple(sorted(s.items())) for s in await get("series", **{"match[]": name}, **live)}
                assert before, name
                assert before == after, name


async def _all_scraped(get: Any) -> list[Json]:
    """Return the active targets once all of the cluster's targets are scraped."""
    async with asyncio.timeout(40):
        while True:
            targets: list[Json] = (await get("targets", state="active"))["activeTargets"]
            if len(targets) >= 91 and all(t["health"] != "unknown" for t in targets):
                return targets
            await asyncio.sleep(0.2)
