"""The world on a real control plane: strict validation passes and its controllers work."""

import asyncio
from datetime import timedelta
from pathlib import Path

import pytest

from demo.world.kube.api import Access
from demo.world.world import Settings, World
from tests.demo.world.clusters import DETR
from tests.demo.world.test_world import condition, idle_of_the_large_pool, until
from tests.real.fixtures import present_or_skip
from tests.real.servers.kubernetes import KubernetesCluster
from tests.support.tls import end_closed_connections


@pytest.mark.real
async def test_the_world_runs_on_a_real_control_plane(tmp_path: Path) -> None:
    cluster = present_or_skip(lambda: KubernetesCluster(tmp_path))
    with cluster:
        access = Access(url=cluster.url, token=cluster.admin_token, ca_file=cluster.ca_file)
        settings = Settings(
            access=access, past=timedelta(minutes=3), tick=timedelta(milliseconds=200), speed=10
        )
        async with World(settings) as world, asyncio.timeout(180), asyncio.TaskGroup() as tasks:
            task = tasks.create_task(world.run())
            await world.ready.wait()
            assert {condition(node, "Ready") for node in world.cache.all("Node")} == {"True"}
            assert idle_of_the_large_pool(world) == ["gpu-d03"]  # not one that the scheduler chose
            assert len(world.exporters.targets()) >= 91
            claim = world.cache.get("PersistentVolumeClaim", "vision-detr", "coco-images")
            assert (claim or {})["status"]["phase"] == "Bound"

            rank = world.state.ranks_of(DETR)[0]
            path = f"/api/v1/namespaces/{rank.key.namespace}/pods/{rank.key.name}/eviction"
            eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": rank.key.name}}
            await world.api.call("POST", path, eviction)
            await until(
                lambda: (
                    len(ranks := world.state.ranks_of(DETR)) == 4 and rank.uid not in {b.uid for b in ranks}
                ),
                "the real Job controller replaces the evicted rank",
            )

            node = world.state.ranks_of(DETR)[0].node
            world.faults.start("xid", node=node, gpu=0)
            await until(
                lambda: condition(world.cache.get("Job", "vision-detr", "detr-worker"), "Failed") == "True",
                "the real Job controller fails the job",
            )
            task.cancel()
        await end_closed_connections()
