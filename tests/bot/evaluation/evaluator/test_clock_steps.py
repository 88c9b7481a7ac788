"""A clock step changes no interval, no `for`, no `keep_firing_for`, and no time of blindness."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import pytest

from alerts.alert import Alert
from alerts.incidents.incident import Incident
from alerts.lifecycle import AlertState
from alerts.routing import CardRouting
from alerts.rules import Rule
from bot.evaluation.evaluator import Evaluator, RuleSources
from bot.evaluation.recorder import IncidentRecorder
from bot.evaluation.scheduler import RuleScheduler
from bot.metrics import Metrics
from collectors.facts.clock import ClockStep, ClockSteps
from tests.support.alerting import CLUSTER, a_renderer, a_rule, a_topology, minutes
from tests.support.chat import START, LoopClock
from tests.support.evaluation import Canned
from tests.support.memory_store import MemoryStore
from tests.support.routing import a_router

pytestmark = pytest.mark.looptime
STEPS = [timedelta(hours=-1), timedelta(hours=1), timedelta(days=-1), timedelta(days=1)]
LATEST = 15  # seconds after a step, until it is noticed


def loop_minutes() -> float:
    return asyncio.get_running_loop().time() / 60


@dataclass
class Running:
    """An evaluator in loop time, whose clock a test sets."""

    rule: Rule
    is_hot: Callable[[], bool] = lambda: True
    is_down: Callable[[], bool] = lambda: False
    clock: LoopClock = field(default_factory=LoopClock)
    store: MemoryStore = field(default_factory=MemoryStore)
    on_objects_read: Callable[[], None] | None = None  # called while PrometheusRule objects are read

    @asynccontextmanager
    async def running(self) -> AsyncIterator["Running"]:
        cluster: Any = SimpleNamespace(
            sources=None,
            name=CLUSTER,
            cache=None,
            pod_logs=SimpleNamespace(pages=self.pages),
            topology=a_topology,
        )

        def heat(_expr: str, _at: datetime) -> Mapping[str, float]:
            return {"gpu-a01": 91} if self.is_hot() else {}

        metrics = Canned(heat, dark=lambda _at: self.is_down())
        self.router = a_router(metrics)
        evaluator = Evaluator(
            cluster,
            RuleScheduler(CLUSTER, (self.rule,), self.router, a_renderer()),
            IncidentRecorder(CLUSTER, self.store, CardRouting(default="C1")),
            self.router,
            rules=RuleSources(shipped=(self.rule,), reads_objects=self.on_objects_read is not None),
            clock=self.clock,
            metrics=Metrics(),
        )
        async with asyncio.TaskGroup() as tasks:
            task = tasks.create_task(evaluator.run())
            yield self
            task.cancel()

    async def pages(self, _path: str) -> AsyncIterator[bytes]:
        assert self.on_objects_read is not None
        self.on_objects_read()
        yield b'{"items": []}'

    async def state_at(self, minute: float) -> AlertState | None:
        await asyncio.sleep(60 * (minute - loop_minutes()))
        async with self.store.unit() as unit:
            found = await unit.rows(Alert).find(cluster=CLUSTER)
        return found[0].life.state if found else None


@pytest.mark.parametrize("step", STEPS, ids=str)
async def test_a_pending_alert_fires_after_its_for(step: timedelta) -> None:
    async with Running(a_rule("Hot", for_=minutes(5))).running() as one:
        assert await one.state_at(2.5) is AlertState.PENDING
        one.clock.wrong_by = step
        assert await one.state_at(4.5) is AlertState.PENDING
        assert await one.state_at(5 + LATEST / 60 + 1) is AlertState.FIRING


@pytest.mark.parametrize("step", STEPS, ids=str)
async def test_a_clock_step_while_rules_are_read_changes_no_for(step: timedelta) -> None:
    def set_late() -> None:
        if loop_minutes() > 2.5:
            one.clock.wrong_by = step

    one = Running(a_rule("Hot", for_=minutes(5)), on_objects_read=set_late)
    async with one.running():
        assert await one.state_at(2.5) is AlertState.PENDING
        assert await one.state_at(4.5) is AlertState.PENDING
        assert one.clock.wrong_by == step
        assert await one.state_at(5 + LATEST / 60 + 1) is AlertState.FIRING


@pytest.mark.parametrize("step", STEPS, ids=str)
async def test_a_firing_alert_is_kept_for_its_time(step: timedelta) -> None:
    rule = a_rule("Hot", keep_firing_for=minutes(5))
    async with Running(rule, is_hot=lambda: loop_minutes() < 1.5).running() as one:
        assert await one.state_at(3.5) is AlertState.FIRING  # quiet since minute 2
        one.clock.wrong_by = step
        assert await one.state_at(6.5) is AlertState.FIRING
        assert await one.state_at(8.5) is AlertState.RESOLVED


@pytest.mark.parametrize("step", STEPS, ids=str)
@pytest.mark.parametrize(
    ("again", "incidents"),
    [
        pytest.param(minutes(6), 1, id="it breaks again soon"),
        pytest.param(minutes(20), 2, id="it breaks again late"),
    ],
)
async def test_an_incident_is_reopened_for_as_long_as_ever(
    step: timedelta, again: timedelta, incidents: int
) -> None:
    back = 4 + again.total_seconds() / 60
    async with Running(a_rule("Hot"), is_hot=lambda: not 2.5 < loop_minutes() < back).running() as one:
        assert await one.state_at(5.5) is AlertState.RESOLVED
        one.clock.wrong_by = step
        await one.state_at(back + 1.5)
        async with one.store.unit() as unit:
            found = await unit.rows(Incident).find(cluster=CLUSTER)
        assert len(found) == incidents
        assert found[-1].is_open


@pytest.mark.parametrize("step", STEPS, ids=str)
async def test_an_incident_lasts_as_long_as_it_does(step: timedelta) -> None:
    async with Running(a_rule("Hot"), is_hot=lambda: loop_minutes() < 9.5).running() as one:
        await one.state_at(4.5)
        one.clock.wrong_by = step
        assert await one.state_at(12.5) is AlertState.RESOLVED
        async with one.store.unit() as unit:
            (incident,) = await unit.rows(Incident).find(cluster=CLUSTER)
        assert incident.lasted(one.clock.now()) == pytest.approx(minutes(10), abs=timedelta(seconds=LATEST))
        assert abs(one.clock.now() - incident.events[-1].at) < minutes(4)


@pytest.mark.parametrize("step", STEPS, ids=str)
async def test_a_source_is_blind_for_as_long_as_it_is(step: timedelta) -> None:
    async with Running(a_rule("Hot"), is_down=lambda: True).running() as one:
        await one.state_at(2.5)
        one.clock.wrong_by = step
        await one.state_at(4.5)
        (prometheus,) = [one for one in one.router.sources(at=one.clock.now()) if one.source == "prometheus"]
        assert prometheus.blind_for == pytest.approx(minutes(4.5), abs=timedelta(seconds=1))


@pytest.mark.parametrize("step", STEPS, ids=str)
async def test_nothing_is_evaluated_twice_or_left_out(step: timedelta) -> None:
    asked: list[float] = []

    def is_hot() -> bool:
        asked.append(loop_minutes())
        return True

    async with Running(a_rule("Hot"), is_hot=is_hot).running() as one:
        await one.state_at(2.5)
        one.clock.wrong_by = step
        await one.state_at(9.5)
    assert len(asked) == 10
    assert max(later - before for before, later in pairwise(asked)) <= 1 + LATEST / 60


async def test_a_large_step_is_reported_for_a_quarter_of_an_hour() -> None:
    clock = LoopClock()
    steps = ClockSteps(clock)
    assert (steps.taken(), steps.recent()) == (timedelta(), None)
    clock.wrong_by = timedelta(minutes=-7)
    assert steps.taken() == timedelta(minutes=-7)
    assert steps.taken() == timedelta()
    assert steps.recent() == ClockStep(by=timedelta(minutes=-7), at=START - minutes(7))
    await asyncio.sleep(14 * 60)
    assert steps.recent() is not None
    await asyncio.sleep(2 * 60)
    assert steps.recent() is None


async def test_a_small_step_is_followed_and_not_reported() -> None:
    clock = LoopClock()
    steps = ClockSteps(clock)
    clock.wrong_by = timedelta(milliseconds=600)
    assert steps.taken() == timedelta()
    clock.wrong_by = timedelta(milliseconds=1200)
    assert steps.taken() == timedelta(milliseconds=1200)
    assert steps.recent() is None
