"""A training as a JobSet, through its whole life: on the look-alikes, and with JobSet's own controller."""

import asyncio
import uuid
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from collectors.cluster.kinds import JOBSETS
from collectors.trainings.training import TrainingState
from commands.core.context import Defaults
from commands.execution.steps import Delete
from commands.models import ReclaimRequest
from demo.lookalikes.kubernetes import KubernetesLookalike, Settings
from tests.commands.gpu.conftest import measured
from tests.support.drained import kubelets, until
from tests.support.examples import by_profile
from tests.support.jobset_controller import JobSetLookalike
from tests.support.training_stage import TrainingStage
from tests.support.yard import yard_before


@dataclass(kw_only=True)
class Stage(TrainingStage):
    """A cluster with JobSets."""

    @property
    def line(self) -> str:
        return (
            f"training launch {self.name} --kind jobset --image registry.example/vision/mnist:7 --workers 2 --gpus 4 "
            f"--ps 1 --memory 8Gi --max-duration 4h --node-selector pool={self.name} -- --epochs 9"
        )

    async def jobset(self) -> Any:
        return await self.kube.call("GET", self.kube.path("jobsets", self.name, api=f"/apis/{JOBSETS.api}"))


@pytest.fixture(
    params=[
        pytest.param("look-alike", id="look-alike"),
        pytest.param("real", id="real", marks=[pytest.mark.real, pytest.mark.xdist_group("real_kubernetes")]),
    ]
)
async def stage(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Stage]:
    name = f"js-{uuid.uuid4().hex[:6]}"
    async with AsyncExitStack() as stack:
        controller = None
        if request.param == "real":
            config = request.getfixturevalue("real_jobset").kubeconfig
        else:
            running = KubernetesLookalike.running(settings=Settings(node_grace=None))
            config = (await stack.enter_async_context(running)).kubeconfig(tmp_path / "config")
        kube = await stack.enter_async_context(kubelets(config, name, makes_namespace=False))
        if request.param != "real":
            controller = JobSetLookalike(kube.client)
            await controller.install()
        for node in ("a", "b"):
            await kube.add_open_node(f"{name}-{node}", pool=name, **{"nvidia.com/gpu": "8"})
        policy = Defaults(owners={"ana": "U_ANA"})
        yard = await stack.enter_async_context(yard_before(config, policy=policy))
        async with asyncio.TaskGroup() as group:
            task = group.create_task(controller.run()) if controller is not None else None
            try:
                yield Stage(yard=yard, kube=kube, name=name)
            finally:
                await kube.clear(f"{name}-{node}" for node in ("a", "b"))
                if task is not None:
                    task.cancel()


async def test_a_launch_runs_with_its_roles_ranks_and_host_names(stage: Stage) -> None:
    plan = await stage.done(stage.line)
    created = [step.description for step in plan.steps]
    assert any(
        f"create JobSet {stage.name}, suspended: 2 workers, each with 4 nvidia.com/gpu and 1 ps" in one
        for one in created
    ), created
    found = await stage.until(TrainingState.RUNNING)
    assert (found.kind, found.owner, found.team) == ("JobSet.jobset.x-k8s.io", "ana", "vision")
    assert {(rank.role, rank.index, rank.gpus) for rank in found.ranks} == {
        ("worker", 0, 4),
        ("worker", 1, 4),
        ("ps", 0, 0),
    }
    assert (found.wanted, found.gpus, found.gpus_wanted) == (3, 8, 8)
    assert found.workloads == (f"{stage.name}/JobSet.jobset.x-k8s.io/{stage.name}",)
    assert set(found.owned) == {f"{stage.name}/Job/{stage.name}-{role}-0" for role in ("worker", "ps")}

    pods = (await stage.kube.call("GET", stage.kube.path("pods")))["items"]
    names = {f"{one['spec']['hostname']}.{one['spec']['subdomain']}" for one in pods}
    env = {one["name"]: one.get("value") for one in pods[0]["spec"]["containers"][0]["env"]}
    hosts = f"{env['WORKER_HOSTS']},{env['PS_HOSTS']}"
    assert {host.partition(":")[0] for host in hosts.split(",")} == names
    assert env["MASTER_ADDR"] == f"{stage.name}-worker-0-0.{stage.name}"

    topology = stage.yard.cluster.topology()
    assert {one.training for one in topology.pods.values() if one.namespace == stage.name} == {found.id}
    assert topology.training_of[f"{stage.name}/Job/{stage.name}-worker-0"] == found.id
    shown = await stage.yard.say(f"training show {stage.name}")
    assert "kind: JobSet" in shown
    assert "ranks: 3 of 3 run on" in shown
    assert found.shown in await stage.yard.say("training list")


async def test_the_workers_end_the_training_and_its_servers(stage: Stage) -> None:
    await stage.done(stage.line)
    found = await stage.until(TrainingState.RUNNING)
    for rank in found.ranks:
        if rank.role == "worker":
            await stage.kube.end(rank.pod, 0)
    over = await stage.until(TrainingState.SUCCEEDED)
    assert "AllJobsCompleted" in over.reason
    await stage.yard.seen(lambda: "ps" not in {rank.role for rank in (stage.training or over).ranks})


async def test_a_failed_rank_fails_the_training_and_is_named(stage: Stage) -> None:
    await stage.done(stage.line)
    found = await stage.until(TrainingState.RUNNING)
    second = next(rank for rank in found.ranks if (rank.role, rank.index) == ("worker", 1))
    await stage.kube.end(second.pod, 137)
    over = await stage.until(TrainingState.FAILED)
    assert "BackoffLimitExceeded" in over.reason
    first = over.first_failure
    assert first is not None
    assert (first.role, first.index, first.exit_code) == ("worker", 1, 137)
    assert "it was killed (SIGKILL)" in await stage.yard.say(f"training show {stage.name}")


@pytest.mark.soak
async def test_idle_gpus_are_released_and_an_undo_restarts_it_until_it_is_stopped(stage: Stage) -> None:
    await stage.done(stage.line)
    for _ in range(by_profile(1, 5)):
        found = await stage.until(TrainingState.RUNNING)
        measured(stage.yard, {}, names=(stage.name,))
        await stage.done(f"gpu free {stage.name} --grace 30m")
        async with stage.yard.store.unit() as unit:
            requests = await unit.rows(ReclaimRequest).find(state="asked")
        plan = await stage.done(f"gpu release {requests[-1].id}")
        assert (await stage.jobset())["spec"]["suspend"] is True
        suspended = await stage.until(TrainingState.SUSPENDED)
        await stage.yard.seen(lambda: stage.training is not None and not stage.training.ranks)
        assert suspended.gpus_wanted == 8
        assert "suspended" in await stage.yard.say("training list")
        await stage.done(f"plan undo {plan.id}")
        again = await stage.until(TrainingState.RUNNING)
        assert {rank.pod for rank in again.ranks}.isdisjoint({rank.pod for rank in found.ranks})

    plan = await stage.done(f"training stop {stage.name} --keep-namespace")
    assert {(step.ref.kind, step.ref.name) for step in plan.steps if isinstance(step, Delete)} >= {
        ("JobSet", stage.name)
    }

    async def is_gone() -> bool:
        paths = (stage.kube.path("pods"), stage.kube.path("jobs", api="/apis/batch/v1"))
        return not any([(await stage.kube.call("GET", path))["items"] for path in paths])

    await until(is_gone, seconds=180)  # the garbage collector looks for new kinds twice a minute
    stopped = await stage.until(TrainingState.STOPPED)
    assert stopped.workloads == ()
    await stage.done(stage.line)
    await stage.until(TrainingState.RUNNING)
    await stage.done(f"training stop {stage.name}")
    space = await stage.kube.call("GET", f"/api/v1/namespaces/{stage.name}")
    assert space["metadata"]["deletionTimestamp"]
