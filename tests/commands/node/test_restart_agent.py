"""`node restart-agent`: one pod of one DaemonSet, never where ceph-fuse mounts would end with it."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from commands.execution.plan import PlanState
from tests.support.drained import ON_BOTH_SERVERS
from tests.support.node_jobs import JobStage, job_stage


@pytest.fixture(params=ON_BOTH_SERVERS)
async def stage(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[JobStage]:
    async with job_stage(request, tmp_path) as made:
        yield made


async def with_agent(stage: JobStage, name: str = "nvidia-device-plugin") -> str:
    """Run a DaemonSet on the node, and return the uid of its pod."""
    await stage.kubelets.add_daemonset(name, stage.node)
    await stage.kubelets.until_running(stage.node, 1)
    (pod,) = await stage.kubelets.pods(stage.node)
    return str(pod["metadata"]["uid"])


async def test_the_pod_is_replaced_and_the_next_one_waited_for(stage: JobStage) -> None:
    before = await with_agent(stage)
    plan = await stage.yard.plan(f"node restart-agent {stage.node} nvidia-device-plugin")
    assert "no pod gets GPUs there" in " ".join(plan.notes)
    over = await stage.yard.executor.execute(await stage.yard.confirmed(plan))
    assert over.state is PlanState.DONE, over.error
    (pod,) = await stage.kubelets.pods(stage.node)
    assert pod["metadata"]["uid"] != before


async def test_one_that_does_not_come_back_is_said(stage: JobStage) -> None:
    await with_agent(stage)
    plan = await stage.yard.plan(f"node restart-agent {stage.node} nvidia-device-plugin")
    stage.kubelets.starts_pods = False
    task = asyncio.get_running_loop().create_task(
        stage.yard.executor.execute(await stage.yard.confirmed(plan))
    )
    await stage.waiting_pod()

    async def is_said() -> bool:
        return any("0 of 1 pods run" in one.outcome for one in await stage.yard.records(plan))

    async with asyncio.timeout(30):
        while not await is_said():  # noqa: ASYNC110 - there is no event to wait for
            await asyncio.sleep(0.05)
    await stage.yard.say(f"plan cancel {plan.id}")
    assert (await task).state is PlanState.CANCELLED


async def test_an_agent_that_is_not_there_is_named_with_those_that_are(stage: JobStage) -> None:
    await with_agent(stage)
    said = await stage.yard.say(f"node restart-agent {stage.node} dcgm")
    assert "There is no agent dcgm" in said
    assert "nvidia-device-plugin" in said


async def test_it_is_refused_while_another_pod_of_it_is_restarted(stage: JobStage) -> None:
    await with_agent(stage)
    line = f"node restart-agent {stage.node} nvidia-device-plugin"
    plan = await stage.yard.plan(line)
    stage.kubelets.ends_pods = False
    task = asyncio.get_running_loop().create_task(
        stage.yard.executor.execute(await stage.yard.confirmed(plan))
    )
    async with asyncio.timeout(30):
        while "One node at a time" not in await stage.yard.say(line):  # noqa: ASYNC110 - nothing to wait for
            await asyncio.sleep(0.05)
    stage.kubelets.ends_pods = True
    assert (await task).state is PlanState.DONE


async def with_claim(stage: JobStage, attributes: dict[str, str]) -> None:
    """A pod on the node whose claim is bound to a volume of CephFS."""
    space, mark = stage.kubelets.namespace, stage.node
    csi: dict[str, Any] = {
        "driver": "rook-ceph.cephfs.csi.ceph.com",
        "volumeHandle": "h",
        "volumeAttributes": attributes,
    }
    spec = {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteMany"], "csi": csi}
    claim = {"accessModes": ["ReadWriteMany"], "resources": {"requests": {"storage": "1Gi"}}}
    await stage.kubelets.call(
        "POST", "/api/v1/persistentvolumes", {"metadata": {"name": f"pv-{mark}"}, "spec": spec}
    )
    await stage.kubelets.call(
        "POST",
        stage.kubelets.path("persistentvolumeclaims"),
        {
            "metadata": {"name": "datasets", "namespace": space},
            "spec": {**claim, "volumeName": f"pv-{mark}", "storageClassName": ""},
        },
    )
    volumes = [{"name": "d", "persistentVolumeClaim": {"claimName": "datasets"}}]
    await stage.kubelets.add_pod("reader", stage.node, volumes=volumes)


@pytest.mark.parametrize("attributes", [{"mounter": "fuse"}, {}], ids=["fuse", "not said"])
async def test_where_mounts_would_end_with_it_it_is_refused(
    stage: JobStage, attributes: dict[str, str]
) -> None:
    await with_agent(stage, "csi-cephfsplugin")
    await with_claim(stage, attributes)
    said = await stage.yard.say(f"node restart-agent {stage.node} csi-cephfsplugin")
    assert f"it holds mounts that would end with it, of {stage.kubelets.namespace}/reader" in said
    assert await stage.yard.newest() is None


async def test_mounts_of_the_kernel_do_not_end_with_it(stage: JobStage) -> None:
    await with_agent(stage, "csi-cephfsplugin")
    await with_claim(stage, {"mounter": "kernel"})
    plan = await stage.yard.plan(f"node restart-agent {stage.node} csi-cephfsplugin")
    assert "no volume is mounted or unmounted there" in " ".join(plan.notes)
