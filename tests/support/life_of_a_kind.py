"""The whole life of a training of any kind: what each must do, on whatever plays or is its controller."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, suppress
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from collectors.facts.results import SourceError
from collectors.facts.workload_keys import shown_kind
from collectors.trainings.training import Rank, Training, TrainingState
from commands.execution.executor import PlanExecutor
from commands.execution.plan import PlanState
from commands.models import Launch
from commands.training.training_kinds import DEFAULT_KIND
from commands.training.writing_kind import WritingKind
from tests.support.cluster_cache import until as cache_until
from tests.support.controller_lookalike import DEFINITIONS
from tests.support.drained import quick, until
from tests.support.execution import Crash, DyingStore
from tests.support.training_stage import TrainingStage
from tests.support.yard import ANA, CLUSTER

WORKERS = 3
# The roles that do the work, as the kinds name them: the end of all of them is the training's.
WORK = ("worker", "master", "node")
DECIDES = ("launcher", "submitter")  # where a kind has such a role, its end alone is the training's


@dataclass(kw_only=True)
class LifeStage(TrainingStage):
    """A cluster with the controller of one kind.

    `collected_within`: seconds until what has lost its owner is collected.
    """

    kind: WritingKind
    options: str = ""  # further ones of a launch, each after a blank
    definition: dict[str, Any] = field(default_factory=dict)  # of the kind; none for one of Kubernetes itself
    collected_within: float = 30
    seen_within: float = (
        20  # seconds until a change of state is seen: some controllers look every few seconds
    )
    step_of_kills: int = 1  # every so many writes of the journal
    without_controller: Callable[[], AbstractAsyncContextManager[None]] | None = None  # None: it always runs

    @property
    def line(self) -> str:
        return self.line_of(WORKERS)

    def line_of(self, workers: int | str) -> str:
        return (
            f"training launch {self.name} --kind {self.kind.option} --image registry.example/vision/mnist:7 "
            f"--workers {workers} --gpus 4 --memory 8Gi --node-selector pool={self.name}{self.options} "
            "-- python train.py"
        )

    @property
    def high(self) -> str:
        """A priority class of this test's own."""
        return f"{self.name}-high"

    def deciding(self, found: Training) -> list[Rank]:
        """Return the ranks whose end is the training's; a failure of the last one fails it."""
        alone = [rank for rank in found.ranks if rank.role in DECIDES]
        return alone or [rank for rank in found.ranks if rank.role in WORK]

    async def seen(self, holds: Callable[[], bool]) -> None:
        assert self.yard.cluster.cache is not None
        await cache_until(self.yard.cluster.cache, holds, seconds=self.seen_within)

    async def until(self, state: TrainingState) -> Training:
        await self.seen(lambda: self.training is not None and self.training.state is state)
        assert self.training is not None
        return self.training

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

        await until(none, seconds=self.collected_within)

    async def until_without_namespace(self) -> None:
        async def gone() -> bool:
            found = (await self.kube.call("GET", "/api/v1/namespaces"))["items"]
            return self.name not in [one["metadata"]["name"] for one in found]

        await until(gone, seconds=self.collected_within)

    async def define_again(self) -> None:
        """Install the definition again, once the one before it is gone."""

        async def taken() -> bool:
            try:
                await self.kube.call("POST", DEFINITIONS, self.definition)
            except SourceError as error:
                if error.status != 409:
                    raise
                return False
            return True

        await until(taken)


class LifeOfAKind:
    """The tests. Who inherits them has a fixture `stage`, with a parameter for each kind."""

    async def test_it_runs_and_succeeds_when_its_work_has_ended(self, stage: LifeStage) -> None:
        found = await stage.launched()
        assert (found.kind, found.owner, found.gpus) == (stage.kind.name, "ana", 4 * WORKERS)
        working = [rank for rank in found.ranks if rank.gpus]
        assert len(working) == WORKERS
        assert all(rank.node for rank in found.ranks)
        shown = await stage.yard.say(f"training show {stage.name}")
        assert f"ranks: {len(found.ranks)} of {len(found.ranks)} run on" in shown
        for rank in stage.deciding(found):
            with suppress(Exception):  # the controller ended it, as its training is over
                await stage.kube.end(rank.pod, 0)
        over = await stage.until(TrainingState.SUCCEEDED)
        assert over.reason
        await stage.seen(lambda: stage.training is not None and stage.training.gpus == 0)

    async def test_a_task_that_fails_fails_it_and_is_named_and_a_stop_leaves_nothing(
        self, stage: LifeStage
    ) -> None:
        found = await stage.launched()
        last = stage.deciding(found)[-1]
        await stage.kube.end(last.pod, 137)
        over = await stage.until(TrainingState.FAILED)
        await stage.seen(lambda: stage.training is not None and stage.training.first_failure is not None)
        over = stage.training or over  # its object may be seen before the pod that failed
        assert over.first_failure is not None
        assert (over.first_failure.role, over.first_failure.pod) == (last.role, last.pod)
        assert "it was killed (SIGKILL)" in await stage.yard.say(f"training show {stage.name}")
        await stage.done(f"training stop {stage.name} --keep-namespace")
        await stage.until_without_pods()
        assert not await stage.objects()

    async def test_what_somebody_else_deletes_is_gone_and_is_launched_again(self, stage: LifeStage) -> None:
        await stage.launched()
        for one in await stage.objects():
            path = stage.kube.path(
                stage.kind.objects.path.rpartition("/")[2],
                one["metadata"]["name"],
                api=f"/apis/{stage.kind.objects.api}",
            )
            await stage.kube.call("DELETE", path, {"propagationPolicy": "Background"})
        over = await stage.until(TrainingState.STOPPED)
        assert "it has no workers" in over.reason or "is being deleted" in over.reason
        await stage.seen(  # an operator may hold its object until it has cleaned up
            lambda: stage.training is not None and "it has no workers" in stage.training.reason
        )
        await stage.until_without_pods()
        await stage.done(f"training stop {stage.name}")
        await stage.until_without_namespace()
        await stage.launched()

    async def test_without_its_definition_it_is_gone_and_seen_again_with_it(self, stage: LifeStage) -> None:
        if stage.kind is DEFAULT_KIND:
            return  # a cluster always serves it
        await stage.launched()
        await stage.kube.call("DELETE", f"{DEFINITIONS}/{stage.definition['metadata']['name']}")
        await stage.seen(lambda: stage.training is None or stage.training.state is TrainingState.STOPPED)
        assert "cannot be seen" not in await stage.yard.say("training list")
        await stage.define_again()
        await stage.until_without_pods()
        await stage.done(f"training stop {stage.name}")
        await stage.until_without_namespace()
        await stage.launched()

    async def test_it_is_suspended_and_resumed_and_both_are_undone(self, stage: LifeStage) -> None:
        """Also a kind that counts a resume, or that is suspended by an object of another kind."""
        if stage.kind.suspending is None:
            return
        first = await stage.launched()
        plan = await stage.done(f"training suspend {stage.name}")
        suspended = await stage.until(TrainingState.SUSPENDED)
        await stage.until_without_pods()
        assert suspended.gpus_wanted == 4 * WORKERS
        assert "is suspended already" in await stage.yard.say(f"training suspend {stage.name}")
        await stage.done(f"plan undo {plan.id}")
        again = await stage.until(TrainingState.RUNNING)
        assert len(again.ranks) == len(first.ranks)
        await stage.done(f"training suspend {stage.name}")
        await stage.until(TrainingState.SUSPENDED)
        await stage.until_without_pods()
        await stage.done(f"training resume {stage.name}")
        again = await stage.until(TrainingState.RUNNING)
        assert len(again.ranks) == len(first.ranks)
        assert "nobody suspended it" in await stage.yard.say(f"training resume {stage.name}")
        assert plan.notes

    async def test_what_has_failed_is_run_again_as_it_was_launched(self, stage: LifeStage) -> None:
        found = await stage.launched()
        assert "only what has ended can be run again" in await stage.yard.say(f"training retry {stage.name}")
        await stage.kube.end(stage.deciding(found)[-1].pod, 1)
        await stage.until(TrainingState.FAILED)
        before = await stage.objects()
        plan = await stage.done(f"training retry {stage.name}")
        assert any("are deleted, with the logs" in note for note in plan.notes)
        again = await stage.until(TrainingState.RUNNING)
        assert len(again.ranks) == len(found.ranks)
        after = await stage.objects()
        assert {one["metadata"]["uid"] for one in after}.isdisjoint(
            {one["metadata"]["uid"] for one in before}
        )
        assert again.owner == "ana"

    async def test_its_workers_are_scaled_or_it_is_said_what_to_do_instead(self, stage: LifeStage) -> None:
        found = await stage.launched()
        if stage.kind.scaling is None:
            reply = await stage.yard.say(f"training scale {stage.name} 2")
            assert "launch it again with --workers 2" in reply
            return
        plan = await stage.done(f"training scale {stage.name} 2")
        assert stage.kind.scaling.note in plan.notes
        await stage.seen(
            lambda: (
                stage.training is not None
                and stage.training.gpus == 8
                and stage.training.state is found.state
            )
        )
        assert "has 2 workers already" in await stage.yard.say(f"training scale {stage.name} 2")
        await stage.done(f"plan undo {plan.id}")
        await stage.seen(lambda: stage.training is not None and stage.training.gpus == 4 * WORKERS)

    async def test_its_priority_changes_or_it_is_said_what_to_do_instead(self, stage: LifeStage) -> None:
        await stage.kube.call(
            "POST",
            "/apis/scheduling.k8s.io/v1/priorityclasses",
            {"metadata": {"name": stage.high}, "value": 1000},
        )
        await stage.launched()
        if stage.kind.reprioritise is None:
            reply = await stage.yard.say(f"training reprioritise {stage.name} {stage.high}")
            assert f"launch it again with --priority-class {stage.high}" in reply
            return
        assert "no priority class" in await stage.yard.say(f"training reprioritise {stage.name} none")
        plan = await stage.done(f"training reprioritise {stage.name} {stage.high}")
        await stage.seen(lambda: stage.training is not None and stage.training.priority == stage.high)
        await stage.done(f"plan undo {plan.id}")
        await stage.seen(lambda: stage.training is not None and stage.training.priority == "")

    async def test_killed_at_any_step_of_its_launch_it_is_launched_once_and_followed(
        self, stage: LifeStage
    ) -> None:
        """No set that holds GPUs is left to nobody: the journal has the plan, which goes on after the restart."""
        executor = stage.yard.executor
        landed = False
        at = 1
        while not landed:
            plan = await stage.yard.confirmed(await stage.yard.plan(stage.line, ANA), ANA)
            dying = DyingStore(stage.yard.store, at, lands=True)
            try:
                writers = {CLUSTER: stage.yard.writer}
                over = await PlanExecutor(dying, writers, stage.yard.clock, quick).execute(plan)
                landed = True
            except Crash:
                over = await executor.execute(await stage.yard.stored(plan.id))
            assert over.state is PlanState.DONE, over.error
            await stage.until(TrainingState.RUNNING)
            assert len(await stage.objects()) == 1
            async with stage.yard.store.read() as snapshot:
                (launch,) = await snapshot.rows(Launch).find()
            assert (launch.name, launch.is_over) == (f"{stage.name}/{stage.name}", False)
            await stage.done(f"training stop {stage.name}")
            await stage.until_without_namespace()
            await stage.seen(lambda: stage.training is None)
            at += stage.step_of_kills
        assert at > len(plan.steps)

    async def test_while_its_controller_is_down_that_is_said_and_it_goes_on_afterwards(
        self, stage: LifeStage
    ) -> None:
        if stage.without_controller is None:
            return
        said = f"no controller of {shown_kind(stage.kind.name)}s has picked it up within 30"
        clock = stage.yard.clock
        async with stage.without_controller():
            await stage.done(stage.line)
            await stage.seen(lambda: stage.training is not None and bool(stage.training.workloads))
            assert stage.training is not None
            assert stage.training.created is not None
            clock.set_by(stage.training.created - clock.now())
            assert said not in await stage.yard.say(f"training show {stage.name}")
            clock.move(timedelta(seconds=31))
            assert said in await stage.yard.say(f"training show {stage.name}")
        await stage.until(TrainingState.RUNNING)
        assert said not in await stage.yard.say(f"training show {stage.name}")
