"""A process that is killed again and again, each time soon after its start, makes up for what was missed."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest

from alerts.incidents.incident import Incident
from alerts.routing import CardRouting
from alerts.rules import Rule
from bot.evaluation.backfill import BACKFILL_FOR
from bot.evaluation.evaluator import Evaluator, RuleSources
from bot.evaluation.recorder import IncidentRecorder
from bot.evaluation.scheduler import RuleScheduler
from bot.metrics import Metrics
from collectors.facts.queries import PromQLQuery
from collectors.facts.results import QueryResult
from tests.support.alerting import CLUSTER, NOON, a_renderer, a_rule, a_topology
from tests.support.evaluation import EVERY, Canned, hot
from tests.support.memory_store import MemoryStore
from tests.support.routing import a_router

pytestmark = pytest.mark.looptime

RULES = tuple(a_rule(f"R{number}") for number in range(12))
LATENCY = 0.2  # seconds of a query
AWAY = 60  # minutes in which nothing ran: what was missed takes longer than a cycle may make up for
BURNS = (5, 9)  # minutes
LIFE = 4.0  # seconds: less than BACKFILL_FOR


class Slow(Canned):
    """Takes a while for each query."""

    async def query(self, query: PromQLQuery, *, at: datetime) -> QueryResult:
        await asyncio.sleep(LATENCY)
        return await super().query(query, at=at)


@dataclass(slots=True, kw_only=True)
class Cluster:
    """Processes one after the other on one store."""

    rules: Sequence[Rule] = RULES
    store: MemoryStore = field(default_factory=MemoryStore)
    metrics: Slow = field(default_factory=lambda: Slow(hot(BURNS)))
    away: timedelta = timedelta()

    def now(self) -> datetime:
        return NOON + self.elapsed()

    def elapsed(self) -> timedelta:
        return self.away + timedelta(seconds=asyncio.get_running_loop().time())

    async def live(self, seconds: float) -> None:
        """Run for so long, and be killed."""
        clock: Any = SimpleNamespace(now=self.now, elapsed=self.elapsed)
        cluster: Any = SimpleNamespace(
            sources=None, name=CLUSTER, cache=None, pod_logs=None, topology=a_topology
        )
        router = a_router(self.metrics)
        evaluator = Evaluator(
            cluster,
            RuleScheduler(CLUSTER, self.rules, router, a_renderer()),
            IncidentRecorder(CLUSTER, self.store, CardRouting(default="C1")),
            router,
            rules=RuleSources(shipped=tuple(self.rules)),
            clock=clock,
            metrics=Metrics(),
        )
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await evaluator.run()

    async def found(self) -> dict[str, tuple[datetime, datetime]]:
        """Return when the alert of each rule began and ended, of those that are over by the record."""
        async with self.store.read() as snapshot:
            incidents = await snapshot.rows(Incident).find()
        found: dict[str, tuple[datetime, datetime]] = {}
        for one in incidents:
            if one.resolved_at is not None:
                found |= {member.name: (one.opened_at, one.resolved_at) for member in one.members}
        return found


async def test_each_life_gets_further_and_what_began_and_ended_meanwhile_is_found() -> None:
    cluster = Cluster()
    await cluster.live(LIFE)
    cluster.away = timedelta(minutes=AWAY)
    missed = len(RULES) * AWAY * LATENCY / 8  # seconds, as so many are asked at once
    assert missed > BACKFILL_FOR > LIFE
    lives = 0
    while len(await cluster.found()) < len(RULES) and lives < 30:
        await cluster.live(LIFE)
        lives += 1
    assert (await cluster.found()).keys() == {rule.name for rule in RULES}


async def test_the_same_is_found_however_it_was_killed() -> None:
    whole, killed = Cluster(), Cluster()
    for cluster in (whole, killed):
        await cluster.live(LIFE)
        cluster.away = timedelta(minutes=AWAY)
    await whole.live(300)
    for seconds in (4, 2, 6, 3, 9, 5, 4, 7, 30, 300):
        await killed.live(seconds)
    there, found = await whole.found(), await killed.found()
    assert found.keys() == there.keys() == {rule.name for rule in RULES}
    for name, (began, ended) in there.items():  # each process may have evaluated at other seconds of a minute
        assert abs(found[name][0] - began) < EVERY
        assert abs(found[name][1] - ended) < EVERY
