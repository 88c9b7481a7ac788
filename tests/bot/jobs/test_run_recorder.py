"""Runs of trainings are stored when they end, once, and outlive their trainings."""

from dataclasses import replace
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pytest

from bot.jobs.run_recorder import RunRecorder
from collectors.facts.labels import Labels
from collectors.facts.results import Blind, Sample, Seen, SourceError
from collectors.internal_errors import InternalErrors
from collectors.trainings.training import Rank, Training, TrainingState
from commands.training.training_runs import TrainingRun
from tests.support.alerting import CLUSTER, NOON, minutes
from tests.support.memory_store import MemoryStore
from tests.support.trainings import a_training

DONE = a_training(
    "vision",
    "detr-7",
    TrainingState.SUCCEEDED,
    owner="ana",
    team="vision",
    gpus_wanted=8,
    ranks=(Rank(role="worker", index=0, pod="detr-7-0"),),
    started=NOON - timedelta(hours=3, minutes=12),
    finished=NOON,
)


class Stage:
    """A recorder, which a test may start again over the same store."""

    def __init__(self, *trainings: Training) -> None:
        self.store = MemoryStore()
        self.now = NOON + minutes(1)
        self.trainings: tuple[Training, ...] | None = trainings
        self.asked: list[str] = []
        self.cluster: Any = SimpleNamespace(name=CLUSTER, trainings=self._seen, query=self._query)
        self.recorder = self.started()

    def started(self) -> RunRecorder:
        clock: Any = SimpleNamespace(now=lambda: self.now)
        errors = InternalErrors(lambda component: pytest.fail(component))
        return RunRecorder(self.store, {CLUSTER: self.cluster}, clock, errors=errors)

    def _seen(self) -> tuple[Training, ...]:
        if self.trainings is None:
            raise SourceError("it does not answer")
        return self.trainings

    async def _query(self, query: Any, *, at: Any) -> Seen | Blind:
        self.asked.append(query.expr)
        return Seen(source="prometheus", at=at, samples=(Sample(labels=Labels({}), value=81_920.0),))

    async def runs(self) -> list[TrainingRun]:
        async with self.store.read() as snapshot:
            return list(await snapshot.rows(TrainingRun).find())


async def test_a_run_that_ended_is_stored_with_what_it_used() -> None:
    stage = Stage(
        DONE, replace(DONE, id="vision/bert", name="bert", state=TrainingState.RUNNING, finished=None)
    )
    await stage.recorder.check()
    (run,) = await stage.runs()
    assert (run.name, run.like, run.kind, run.state) == ("vision/detr-7", "vision/detr", "Job", "succeeded")
    assert (run.owner, run.team, run.gpus) == ("ana", "vision", 8)
    assert run.lasted == timedelta(hours=3, minutes=12)
    assert run.gpu_hours == pytest.approx(25.6)
    assert run.peak_memory == 81_920


async def test_it_is_stored_once_by_this_process_and_the_next_and_stays_when_its_training_is_gone() -> None:
    stage = Stage(DONE)
    for _ in range(3):
        await stage.recorder.check()
        stage.now += minutes(1)
    stage.recorder = stage.started()
    await stage.recorder.check()
    stage.trainings = ()
    await stage.recorder.check()
    assert len(await stage.runs()) == 1
    assert len(stage.asked) == 1


async def test_the_next_run_of_the_same_training_is_another() -> None:
    stage = Stage(DONE)
    await stage.recorder.check()
    stage.trainings = (replace(DONE, started=NOON + minutes(5), finished=NOON + minutes(20)),)
    stage.now = NOON + minutes(21)
    await stage.recorder.check()
    assert len(await stage.runs()) == 2


async def test_a_cluster_that_cannot_be_seen_ends_nothing() -> None:
    stage = Stage(DONE)
    await stage.recorder.check()
    stage.trainings = None
    await stage.recorder.check()
    stage.trainings = (DONE,)
    await stage.recorder.check()
    assert len(await stage.runs()) == 1
    assert len(stage.asked) == 1


async def test_of_a_run_that_ended_long_ago_the_memory_is_not_asked_for() -> None:
    stage = Stage(DONE)
    stage.now = NOON + timedelta(hours=5)
    await stage.recorder.check()
    (run,) = await stage.runs()
    assert run.peak_memory is None
    assert not stage.asked
