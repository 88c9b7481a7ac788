"""The view of a cluster is refreshed when a kind becomes visible or blind, even if no object changed."""

import asyncio
from datetime import timedelta
from pathlib import Path

import pytest

from bot.live_cluster import LiveCluster
from collectors.cluster.cache import ClusterCache
from collectors.cluster.kinds import JOBS, NODES, PODS
from collectors.facts.clock import SystemClock
from collectors.facts.results import Blind, SourceError
from collectors.sources.kubernetes.client import KubernetesClient, KubernetesOptions
from collectors.sources.kubernetes.source import KubernetesSource
from demo.lookalikes.kubernetes import KubernetesLookalike
from tests.support.cluster_cache import QUICK, until
from tests.support.yard import a_node_tree


async def test_a_kind_that_is_visible_again_without_a_change_is_no_longer_missing(tmp_path: Path) -> None:
    async with KubernetesLookalike.running(controllers=False) as kube:
        kube.create(a_node_tree("gpu-a01"), keep_status=True)
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
            with pytest.raises(SourceError, match="trainings made of a Job cannot be seen"):
                cluster.trainings()
            assert isinstance(cluster.check_input(SystemClock().now(), ()).trainings, Blind)
            failing[0] = False
            await until(cache, lambda: "jobs" not in missing())
            task.cancel()
        await client.close()


async def test_readers_share_a_snapshot_that_is_made_at_most_once_in_its_time(tmp_path: Path) -> None:
    async with KubernetesLookalike.running(controllers=False) as kube:
        kube.create(a_node_tree("gpu-a01"), keep_status=True)
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
