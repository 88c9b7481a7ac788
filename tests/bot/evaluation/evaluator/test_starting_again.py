"""An evaluator that failed in a cycle begins again from the store: nothing is lost and nothing is repeated."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest

from alerts.alert import Alert
from alerts.incidents.incident import Incident
from alerts.routing import CardRouting
from bot.evaluation.evaluator import Evaluator, RuleSources
from bot.evaluation.recorder import IncidentRecorder
from bot.evaluation.scheduler import RuleScheduler
from bot.metrics import Metrics
from tests.support.alerting import CLUSTER, NOON, a_renderer, a_rule, a_topology, minutes
from tests.support.evaluation import Canned, hot
from tests.support.memory_store import MemoryStore
from tests.support.routing import a_router

pytestmark = pytest.mark.looptime  # a run until the first pause is then whole, however busy the machine is
RULE = a_rule("Hot")


class FailingStore(MemoryStore):
    """A store whose next units fail, as often as `failures` says."""

    failures = 0

    def unit(self) -> Any:
        if self.failures:
            self.failures -= 1
            raise OSError("disk full")
        return super().unit()


@dataclass
class Setup:
    store: Any = field(default_factory=FailingStore)
    now: Any = field(default_factory=lambda: SimpleNamespace(at=NOON))
    metrics: Canned = field(default_factory=lambda: Canned(hot((0, 600))))

    def evaluator(self, on_view_change: Callable[[], None] = lambda: None) -> Evaluator:
        clock: Any = SimpleNamespace(now=lambda: self.now.at, elapsed=lambda: self.now.at - NOON)
        cluster: Any = SimpleNamespace(
            sources=None, name=CLUSTER, cache=None, pod_logs=None, topology=a_topology
        )
        router = a_router(self.metrics)
        return Evaluator(
            cluster,
            RuleScheduler(CLUSTER, (RULE,), router, a_renderer()),
            IncidentRecorder(CLUSTER, self.store, CardRouting(default="C1")),
            router,
            rules=RuleSources(shipped=(RULE,)),
            clock=clock,
            metrics=Metrics(),
            on_view_change=on_view_change,
        )

    async def events(self) -> list[str]:
        async with self.store.unit() as unit:
            return [event.type.value for one in await unit.rows(Incident).find() for event in one.events]

    async def alerts(self) -> list[str]:
        async with self.store.unit() as unit:
            return [alert.name for alert in await unit.rows(Alert).find()]


async def run_once(evaluator: Evaluator) -> None:
    """Run until the first pause, as the supervisor does."""
    with suppress(TimeoutError):
        async with asyncio.timeout(0.05):
            await evaluator.run()


@pytest.mark.parametrize("cycles_before", [0, 1], ids=["before the first cycle", "after a cycle"])
async def test_what_a_failed_commit_lost_is_recorded_after_the_restart_and_once(cycles_before: int) -> None:
    setup = Setup()
    evaluator = setup.evaluator()
    await evaluator.start()
    for _ in range(cycles_before):
        await evaluator.run_cycle()
        setup.now.at += minutes(1)
    setup.store.failures = 1
    with pytest.raises(OSError, match="disk full"):
        await evaluator.run_cycle()

    await run_once(evaluator)

    assert await setup.events() == ["opened"]
    assert await setup.alerts() == ["Hot"]
    assert evaluator.has_evaluated


async def test_a_source_that_goes_blind_in_a_cycle_that_cannot_be_recorded_is_shown() -> None:
    setup = Setup()
    seen: list[str] = []
    evaluator = setup.evaluator(on_view_change=lambda: seen.append("view"))
    await evaluator.run_cycle()
    seen.clear()
    setup.metrics.dark = lambda _: True
    setup.now.at, setup.store.failures = NOON + minutes(1), 1
    with suppress(OSError):
        await evaluator.run_cycle()
    assert evaluator.blind
    assert seen == ["view"]
