"""The whole life of a training of each kind, on the look-alikes. A new kind enters by itself.

It needs a row in `tests/support/training_controllers.py`, which says how its controller acts.
"""

import asyncio
import uuid
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from collectors.trainings.training import Training, TrainingState
from commands.core.context import Defaults
from commands.training.training_kinds import DEFAULT_KIND, KINDS
from commands.training.writing_kind import WritingKind
from demo.lookalikes.kubernetes import KubernetesLookalike, Settings
from tests.support.custom_kinds import a_definition
from tests.support.drained import kubelets, until
from tests.support.jobset_controller import JobSetLookalike
from tests.support.training_controllers import CONTROLLERS, DEFINITIONS, ControllerLookalike
from tests.support.training_stage import TrainingStage
from tests.support.yard import yard_before

JOBSET = "JobSet.jobset.x-k8s.io"  # it has a look-alike of its own, which passes the tests of the real one
LAUNCHED = {name: kind for name, kind in KINDS.items() if kind.launching}
WORKERS = 3
# The roles that do the work, as the kinds name them: the end of all of them is the training's.
WORK = ("worker", "master", "launcher", "head")


@dataclass(kw_only=True)
class Stage(TrainingStage):
    """A cluster with the controller of one kind."""

    kind: WritingKind

    @property
    def line(self) -> str:
        return (
            f"training launch {self.name} --kind {self.kind.option} --image registry.example/vision/mnist:7 "
            f"--workers {WORKERS} --gpus 4 --memory 8Gi --node-selector pool={self.name} -- python train.py"
        )

    async def launched(self) -> Training:
        await self.done(self.line)
        return await self.until(TrainingState.RUNNING)

    async def objects(self) -> list[Any]:
        path = self.kube.path(self.kind.objects.path.rpartition("/")[2], api=f"/apis/{self.kind.objects.api}")
        found: list[Any] = (await self.kube.call("GET", path))["items"]
        return found

    async def until_without_pods(self) -> None:
        async def none() -> bool:
            return not (await self.kube.call("GET", self.kube.path("pods")))["items"]

        await until(none)

    async def removed(self) -> None:
        """Stop the training, and wait until its namespace is gone."""

        async def gone() -> bool:
            found = (await self.kube.call("GET", "/api/v1/namespaces"))["items"]
            return self.name not in [one["metadata"]["name"] for one in found]

        await self.until_without_pods()
        await self.done(f"training stop {self.name}")
        await until(gone)


@pytest.fixture(params=sorted(LAUNCHED), ids=[LAUNCHED[name].option for name in sorted(LAUNCHED)])
async def stage(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Stage]:
    kind = LAUNCHED[request.param]
    name = f"t-{uuid.uuid4().hex[:6]}"
    async with AsyncExitStack() as stack:
        running = KubernetesLookalike.running(settings=Settings(node_grace=None))
        config = (await stack.enter_async_context(running)).kubeconfig(tmp_path / "config")
        kube = await stack.enter_async_context(kubelets(config, name, makes_namespace=False))
        controller: ControllerLookalike | JobSetLookalike | None = None
        if kind is not DEFAULT_KIND:
            controller = (
                JobSetLookalike(kube.client)
                if kind.name == JOBSET
                else ControllerLookalike(kube.client, CONTROLLERS[kind.name])
            )
            await controller.install()
        for node in ("a", "b"):
            await kube.add_open_node(f"{name}-{node}", pool=name, **{"nvidia.com/gpu": "8"})
        yard = await stack.enter_async_context(yard_before(config, policy=Defaults(owners={"ana": "U_ANA"})))
        async with asyncio.TaskGroup() as group:
            task = group.create_task(controller.run()) if controller is not None else None
            try:
                yield Stage(yard=yard, kube=kube, kind=kind, name=name)
            finally:
                if task is not None:
                    task.cancel()


def test_every_kind_that_is_launched_has_a_controller_here() -> None:
    missing = LAUNCHED.keys() - CONTROLLERS.keys() - {DEFAULT_KIND.name, JOBSET}
    assert not missing, f"add a row for {missing} to tests/support/training_controllers.py"


async def test_it_runs_and_succeeds_when_its_work_has_ended(stage: Stage) -> None:
    found = await stage.launched()
    assert (found.kind, found.owner, found.gpus) == (stage.kind.name, "ana", 4 * WORKERS)
    working = [rank for rank in found.ranks if rank.gpus]
    assert len(working) == WORKERS
    assert all(rank.node for rank in found.ranks)
    shown = await stage.yard.say(f"training show {stage.name}")
    assert f"ranks: {len(found.ranks)} of {len(found.ranks)} run on" in shown
    for rank in found.ranks:
        if rank.role in WORK:
            with suppress(Exception):  # the controller ended it, as its training is over
                await stage.kube.end(rank.pod, 0)
    over = await stage.until(TrainingState.SUCCEEDED)
    assert over.reason
    await stage.yard.seen(lambda: stage.training is not None and stage.training.gpus == 0)


async def test_a_task_that_fails_fails_it_and_is_named_and_a_stop_leaves_nothing(stage: Stage) -> None:
    found = await stage.launched()
    last = [rank for rank in found.ranks if rank.gpus][-1]
    await stage.kube.end(last.pod, 137)
    over = await stage.until(TrainingState.FAILED)
    assert over.first_failure is not None
    assert (over.first_failure.role, over.first_failure.pod) == (last.role, last.pod)
    assert "it was killed (SIGKILL)" in await stage.yard.say(f"training show {stage.name}")
    await stage.done(f"training stop {stage.name} --keep-namespace")
    await stage.until_without_pods()
    assert not await stage.objects()


async def test_what_somebody_else_deletes_is_gone_and_is_launched_again(stage: Stage) -> None:
    await stage.launched()
    for one in await stage.objects():
        path = stage.kube.path(
            stage.kind.objects.path.rpartition("/")[2],
            one["metadata"]["name"],
            api=f"/apis/{stage.kind.objects.api}",
        )
        await stage.kube.call("DELETE", path, {"propagationPolicy": "Background"})
    over = await stage.until(TrainingState.STOPPED)
    assert "it has no workers" in over.reason
    await stage.removed()
    await stage.launched()


async def test_without_its_definition_it_is_gone_and_seen_again_with_it(stage: Stage) -> None:
    if stage.kind is DEFAULT_KIND:
        return  # a cluster always serves it
    await stage.launched()
    objects = stage.kind.objects
    definition = f"{DEFINITIONS}/{objects.path.rpartition('/')[2]}.{objects.group}"
    await stage.kube.call("DELETE", definition)
    await stage.yard.seen(lambda: stage.training is None or stage.training.state is TrainingState.STOPPED)
    assert "cannot be seen" not in await stage.yard.say("training list")
    await stage.kube.call("POST", DEFINITIONS, a_definition(objects))
    await stage.removed()
    await stage.launched()


async def test_it_is_suspended_and_resumed_and_both_are_undone(stage: Stage) -> None:
    """Also a kind that counts a resume, or that is suspended by an object of another kind."""
    if stage.kind.suspending is None:
        return
    first = await stage.launched()
    plan = await stage.done(f"training suspend {stage.name}")
    suspended = await stage.until(TrainingState.SUSPENDED)
    await stage.until_without_pods()
    assert suspended.gpus_wanted == 4 * WORKERS
    assert "is suspended already" in await stage.yard.say(f"training suspend {stage.name}")
    await stage.done(f"training resume {stage.name}")
    again = await stage.until(TrainingState.RUNNING)
    assert len(again.ranks) == len(first.ranks)
    assert "nobody suspended it" in await stage.yard.say(f"training resume {stage.name}")
    assert plan.notes


async def test_what_has_failed_is_run_again_as_it_was_launched(stage: Stage) -> None:
    found = await stage.launched()
    assert "only what has ended can be run again" in await stage.yard.say(f"training retry {stage.name}")
    await stage.kube.end(found.ranks[-1].pod, 1)
    await stage.until(TrainingState.FAILED)
    before = await stage.objects()
    plan = await stage.done(f"training retry {stage.name}")
    assert any("are deleted, with the logs" in note for note in plan.notes)
    again = await stage.until(TrainingState.RUNNING)
    assert len(again.ranks) == len(found.ranks)
    after = await stage.objects()
    assert {one["metadata"]["uid"] for one in after}.isdisjoint({one["metadata"]["uid"] for one in before})
    assert again.owner == "ana"


async def test_its_workers_are_scaled_or_it_is_said_what_to_do_instead(stage: Stage) -> None:
    found = await stage.launched()
    if stage.kind.scaling is None:
        reply = await stage.yard.say(f"training scale {stage.name} 2")
        assert "launch it again with --workers 2" in reply
        return
    plan = await stage.done(f"training scale {stage.name} 2")
    assert stage.kind.scaling.note in plan.notes
    await stage.yard.seen(
        lambda: (
            stage.training is not None and stage.training.gpus == 8 and stage.training.state is found.state
        )
    )
    assert "has 2 workers already" in await stage.yard.say(f"training scale {stage.name} 2")
    await stage.done(f"plan undo {plan.id}")
    await stage.yard.seen(lambda: stage.training is not None and stage.training.gpus == 4 * WORKERS)


async def test_its_priority_changes_or_it_is_said_what_to_do_instead(stage: Stage) -> None:
    await stage.kube.call(
        "POST",
        "/apis/scheduling.k8s.io/v1/priorityclasses",
        {"metadata": {"name": "high"}, "value": 1000},
    )
    await stage.launched()
    if stage.kind.reprioritise is None:
        reply = await stage.yard.say(f"training reprioritise {stage.name} high")
        assert "launch it again with --priority-class high" in reply
        return
    assert "no priority class" in await stage.yard.say(f"training reprioritise {stage.name} none")
    plan = await stage.done(f"training reprioritise {stage.name} high")
    await stage.yard.seen(lambda: stage.training is not None and stage.training.priority == "high")
    await stage.done(f"plan undo {plan.id}")
    await stage.yard.seen(lambda: stage.training is not None and stage.training.priority == "")
