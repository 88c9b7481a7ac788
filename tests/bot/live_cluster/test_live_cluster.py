"""The view of a cluster is refreshed when a kind becomes visible or blind, even if no object changed."""

import asyncio
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from bot.live_cluster import STARTING, LiveCluster
from collectors.cluster.cache import ClusterCache
from collectors.cluster.kinds import JOBS, NODES, PODS
from collectors.facts.clock import SystemClock
from collectors.facts.results import Blind, SourceError
from collectors.sources.kubernetes.client import KubernetesClient, KubernetesOptions
from collectors.sources.kubernetes.source import KubernetesSource
from collectors.trainings import composition
from collectors.trainings.training import Training
from demo.lookalikes.kubernetes import KubernetesLookalike
from tests.support.cluster_cache import QUICK, until
from tests.support.yard import a_node_tree, lookalike_with


async def test_a_kind_that_is_visible_again_without_a_change_is_no_longer_missing(tmp_path: Path) -> None:
    async with lookalike_with("gpu-a01") as kube:
        failing = [True]
        kube.fail(lambda seen: failing[0] and "/jobs" in seen.path, 503, times=1_000_000)
        config = KubernetesOptions(kubeconfig=str(kube.kubeconfig(tmp_path / "config")))
        client = await KubernetesClient.connect(config)
        cache = ClusterCache(
            KubernetesSource(client), clock=SystemClock(), kinds=(NODES, PODS, JOBS), timing=QUICK
        )
        cluster = LiveCluster("a", clock=SystemClock(), cache=cache)

        def missing() -> set[str]:
            inventory = cluster.refresh()
            return {"everything"} if isinstance(inventory, Blind) else set(inventory.missing)

        async with asyncio.TaskGroup() as group:
            task = group.create_task(cache.run())
            await until(cache, lambda: "everything" not in missing())
            assert "jobs" in missing()
            with pytest.raises(SourceError, match="trainings of kind Job cannot be seen"):
                cluster.trainings()
            assert isinstance(cluster.check_input(SystemClock().now(), ()).trainings, Blind)
            failing[0] = False
            await until(cache, lambda: "jobs" not in missing())
            task.cancel()
        await client.close()


async def test_readers_share_a_snapshot_that_is_made_at_most_once_in_its_time(tmp_path: Path) -> None:
    async with lookalike_with("gpu-a01") as kube:
        config = KubernetesOptions(kubeconfig=str(kube.kubeconfig(tmp_path / "config")))
        client = await KubernetesClient.connect(config)
        cache = ClusterCache(
            KubernetesSource(client), clock=SystemClock(), kinds=(NODES, PODS, JOBS), timing=QUICK
        )
        paced = LiveCluster("a", clock=SystemClock(), cache=cache, snapshot_every=3600)
        free = LiveCluster("a", clock=SystemClock(), cache=cache, snapshot_every=0)
        async with asyncio.TaskGroup() as group:
            task = group.create_task(cache.run())
            await cache.synced(timedelta(seconds=20))
            first = paced.inventory()
            assert free.inventory() is free.inventory()
            kube.create(a_node_tree("gpu-a02"), keep_status=True)
            await until(cache, lambda: len(free.inventory().nodes) == 2)
            assert paced.inventory() is first
            task.cancel()
        await client.close()


def a_job_tree(name: str) -> dict[str, Any]:
    container = {"name": "main", "image": "i", "resources": {"limits": {"nvidia.com/gpu": "8"}}}
    template = {"spec": {"restartPolicy": "Never", "containers": [container]}}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"template": template},
    }


def note_reads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return a list that gets `read` whenever a training is read."""
    events: list[str] = []
    read = composition._training

    def noted(*args: Any, **named: Any) -> Training:
        events.append("read")
        return read(*args, **named)

    monkeypatch.setattr(composition, "_training", noted)
    return events


async def test_others_run_while_the_first_trainings_are_read_and_they_are_read_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    events = note_reads(monkeypatch)
    async with KubernetesLookalike.running(controllers=False) as kube:
        for number in range(20):
            kube.create(a_job_tree(f"t{number}"))
        config = KubernetesOptions(kubeconfig=str(kube.kubeconfig(tmp_path / "config")))
        client = await KubernetesClient.connect(config)
        cache = ClusterCache(KubernetesSource(client), clock=SystemClock(), timing=QUICK)
        cluster = LiveCluster("a", clock=SystemClock(), cache=cache, snapshot_every=0)

        async def other() -> None:
            while True:
                if events:
                    events.append("other")
                    assert isinstance(cluster.refresh(), Blind)  # the rest is not read at once for a reader
                await asyncio.sleep(0)

        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(cache.run()), group.create_task(other())]
            await cluster.synced(timedelta(seconds=20))
            tasks.pop().cancel()
            assert events[:40].count("read") == 20
            assert "read, read" not in ", ".join(events)
            assert len(cluster.trainings()) == 20
            assert events.count("read") == 20
            tasks.pop().cancel()
        await client.close()


async def test_while_kinds_are_listed_no_reader_and_nobody_who_gives_up_reads_the_trainings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reads = note_reads(monkeypatch)
    async with KubernetesLookalike.running(controllers=False) as kube:
        kube.create(a_job_tree("t0"))
        kube.fail(lambda seen: "/events" in seen.path, 503, times=1_000_000)
        config = KubernetesOptions(kubeconfig=str(kube.kubeconfig(tmp_path / "config")))
        client = await KubernetesClient.connect(config)
        cache = ClusterCache(KubernetesSource(client), clock=SystemClock(), timing=QUICK)
        cluster = LiveCluster("a", clock=SystemClock(), cache=cache)
        async with asyncio.TaskGroup() as group:
            task = group.create_task(cache.run())
            waiting = group.create_task(cluster.synced(timedelta(seconds=600)))
            await asyncio.sleep(0)
            assert isinstance(unseen := cluster.refresh(), Blind)
            assert unseen.reason == "nodes: it has not been listed yet"
            await until(cache, lambda: set(cache.blind_kinds()) == {"events"})
            assert isinstance(seen := cluster.refresh(), Blind)  # not all read at once for this reader
            assert seen.reason == STARTING
            waiting.cancel()
            await asyncio.wait((waiting,))
            assert not reads
            with pytest.raises(TimeoutError, match="events"):
                await cluster.synced(timedelta(seconds=0.01))
            assert len(reads) == 1
            assert len(cluster.trainings()) == 1
            assert len(reads) == 1
            task.cancel()
        await client.close()
