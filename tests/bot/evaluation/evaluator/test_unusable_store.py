"""While the store cannot be used, evaluation goes on: what it found is recorded later, as if nothing had been."""

import asyncio
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest

from alerts.alert import Alert
from alerts.incidents.incident import Incident
from alerts.store import EvaluationProgress, StoreError
from bot.evaluation import backlog
from bot.evaluation.evaluator import Evaluator, RuleSources
from bot.evaluation.recorder import CardRouting, IncidentRecorder
from bot.evaluation.scheduler import RuleScheduler
from bot.metrics import Metrics
from collectors.check import CheckInput, ClusterCheck, SourceState
from collectors.facts.labels import Labels
from collectors.facts.queries import CheckQuery
from collectors.facts.results import Blind, Sample
from tests.support.alerting import CLUSTER, NOON, a_renderer, a_rule, a_topology, minutes
from tests.support.evaluation import Canned, hot
from tests.support.memory_store import MemoryStore
from tests.support.objects import inventory
from tests.support.routing import a_router
from tests.support.yard import Hands

SPANS = ((0, 4), (6, 8), (11, 30))  # the minutes in which it is hot
DOWN = range(2, 10)  # the minutes in which the store cannot be used
LAST = 14


class UnusableStore(MemoryStore):
    """A store that can be made unusable."""

    is_down = False

    def unit(self) -> Any:
        if self.is_down:
            raise StoreError("the store is full")
        return super().unit()


@dataclass
class Cluster:
    """A cluster with a rule on metrics and one on a check, which sees only what is so now."""

    clock: Any = field(default_factory=lambda: Hands(at=NOON))
    store: UnusableStore = field(default_factory=UnusableStore)
    metrics: Metrics = field(default_factory=Metrics)

    def __post_init__(self) -> None:
        rules = (a_rule("Hot"), replace(a_rule("Looks"), query=CheckQuery(name="looks")))
        check = ClusterCheck(name="looks", summary="", needs=frozenset({"inventory"}), run=self._look)
        router = a_router(Canned(hot(*SPANS)), checks={"looks": check}, check_input=self._inputs)
        cluster: Any = SimpleNamespace(
            sources=None, name=CLUSTER, cache=None, pod_logs=None, topology=a_topology
        )
        self.scheduler = RuleScheduler(CLUSTER, rules, router, a_renderer())
        self.evaluator = Evaluator(
            cluster,
            self.scheduler,
            IncidentRecorder(CLUSTER, self.store, CardRouting(default="C1")),
            router,
            rules=RuleSources(shipped=rules),
            clock=self.clock,
            metrics=self.metrics,
        )

    def _inputs(self, at: datetime, sources: tuple[SourceState, ...]) -> CheckInput:
        blind = Blind(source="kubernetes", at=at, reason="not needed")
        return CheckInput(at=at, inventory=inventory(), trainings=blind, configs=blind, sources=sources)

    def _look(self, given: CheckInput, _parameters: Any) -> tuple[Sample, ...]:
        minute = (given.at - NOON) // minutes(1)
        is_hot = any(start <= minute < end for start, end in SPANS)
        return (Sample(labels=Labels({"node": "gpu-b01"}), value=1.0),) if is_hot else ()

    async def run(self, down: range, last: int = LAST) -> None:
        for minute in range(last):
            self.store.is_down = minute in down
            await self.evaluator.run_cycle()
            self.clock.move(minutes(1))

    async def lives(self) -> list[Any]:
        async with self.store.read() as snapshot:
            incidents = await snapshot.rows(Incident).find()
            alerts = await snapshot.rows(Alert).find()
            progress = await snapshot.rows(EvaluationProgress).find()
        shown = [
            (one.group_key, one.opened_at, one.resolved_at, [(event.type, event.at) for event in one.events])
            for one in incidents
        ]
        return [*sorted(shown), *sorted((one.id, one.life) for one in alerts), progress]

    def waiting(self) -> float:
        return (
            self.metrics.registry.get_sample_value("yardmaster_unrecorded_changes", {"cluster": CLUSTER}) or 0
        )


@pytest.mark.parametrize("down", [range(2, 3), DOWN, range(10)], ids=["one cycle", "long", "from the first"])
async def test_what_was_found_meanwhile_is_recorded_as_if_the_store_had_been_there(down: range) -> None:
    whole, broken = Cluster(), Cluster()
    await whole.run(range(0))
    await broken.run(down)
    assert await broken.lives() == await whole.lives()
    assert broken.waiting() == 0


async def test_a_metric_counts_what_waits_and_nothing_is_shown_meanwhile() -> None:
    cluster = Cluster()
    await cluster.run(range(10), last=9)
    assert cluster.waiting() > 0
    assert cluster.evaluator.has_evaluated
    assert await cluster.lives() == [[]]


async def test_a_clock_step_meanwhile_changes_no_duration() -> None:
    whole, broken = Cluster(), Cluster()
    for cluster in (whole, broken):
        await cluster.run(range(0), last=2)
        cluster.store.is_down = cluster is broken
        await cluster.evaluator.run_cycle()
        cluster.clock.move(minutes(1))
        cluster.clock.set_by(timedelta(hours=3))
        await cluster.evaluator.run_cycle()
        cluster.store.is_down = False
        cluster.clock.move(minutes(1))
        await cluster.evaluator.run_cycle()
    assert await broken.lives() == await whole.lives()


async def test_what_became_due_while_the_store_took_long_to_fail_is_evaluated() -> None:
    cluster = Cluster()
    await cluster.run(range(0), last=1)

    def fails_late() -> Any:
        cluster.clock.move(minutes(5))
        raise StoreError("the store is locked")

    cluster.store.unit = fails_late  # type: ignore[method-assign]
    await cluster.evaluator.run_cycle()
    del cluster.store.unit
    await cluster.evaluator.run_cycle()
    cluster.clock.move(minutes(1))
    await cluster.evaluator.run_cycle()
    whole = Cluster()
    await whole.run(range(0), last=8)
    metric = [one for one in await whole.lives() if "Hot" in str(one)]
    assert [one for one in await cluster.lives() if "Hot" in str(one)] == metric


async def test_with_too_much_that_waits_the_cluster_begins_again_from_the_store(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(backlog, "MOST_KEPT", 3)
    cluster = Cluster()
    with pytest.raises(StoreError):
        await cluster.run(range(10), last=10)
    cluster.store.is_down = False
    await cluster.evaluator.start()
    assert cluster.scheduler.counts() == {"pending": 0, "firing": 0}
    await cluster.evaluator.run_cycle()
    assert cluster.waiting() == 0


@pytest.mark.looptime
async def test_what_waits_is_recorded_soon_although_no_rule_is_due(looptime: Any) -> None:
    loop, store = asyncio.get_running_loop(), UnusableStore()
    clock: Any = SimpleNamespace(
        now=lambda: NOON + timedelta(seconds=loop.time()), elapsed=lambda: timedelta(seconds=loop.time())
    )
    cluster = Cluster(clock=clock, store=store)
    hourly = tuple(replace(rule, interval=timedelta(hours=1)) for rule in cluster.scheduler.rules.values())
    cluster.scheduler.swap(hourly)
    store.is_down = True
    async with asyncio.TaskGroup() as group:
        task = group.create_task(cluster.evaluator.run())
        await asyncio.sleep(60)
        assert cluster.waiting() > 0
        store.is_down = False
        await asyncio.sleep(2 * backlog.TRY_AGAIN.total_seconds())
        assert cluster.waiting() == 0
        task.cancel()
    assert len(await cluster.lives()) > 1
