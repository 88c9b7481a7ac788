"""Evaluation cycles of one cluster over a world that is a function of time, with an in-memory store."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from alerts.alert import Alert
from alerts.cards.posted import PostedCard, ThreadReply
from alerts.cards.text import plain
from alerts.incidents.incident import Incident
from alerts.routing import CardRouting, Route
from alerts.rules import Proof, Rule
from alerts.silences import Silence
from alerts.store import Row
from bot.cards.card_catalogue import CardCatalogue
from bot.cards.card_kind import CardContext
from bot.evaluation.evaluator import Evaluator, RuleSources
from bot.evaluation.proof_queries import proof_facts
from bot.evaluation.recorder import IncidentRecorder
from bot.evaluation.scheduler import EvaluationCycle, RuleScheduler
from bot.metrics import Metrics
from bot.store.sql_store import SqlStore
from collectors.facts.clock import Clock
from collectors.facts.labels import Labels
from collectors.facts.queries import PromQLQuery
from collectors.facts.results import Blind, QueryResult, Sample, Seen
from collectors.facts.topology import Topology
from collectors.query_router import QueryRouter
from tests.support.alerting import CLUSTER, NOON, a_renderer, a_topology
from tests.support.memory_store import MemoryStore
from tests.support.routing import QuietSource, a_router

Heat = Callable[[str, datetime], Mapping[str, float]]  # expression and moment -> value by node
EVERY = timedelta(minutes=1)


def an_evaluator(cluster: Any, rule: Rule, router: QueryRouter, clock: Clock, **more: Any) -> Evaluator:
    """Return the evaluator of one rule, with an in-memory store."""
    return Evaluator(
        cluster,
        RuleScheduler(CLUSTER, (rule,), router, a_renderer()),
        IncidentRecorder(CLUSTER, MemoryStore(), CardRouting(default="C1")),
        router,
        rules=RuleSources(shipped=(rule,)),
        clock=clock,
        metrics=Metrics(),
        **more,
    )


@dataclass(slots=True)
class Canned(QuietSource):
    """A Prometheus that can answer for any time, unless it is down now.

    `dark` returns whether it is down at a time of our clock; `asked` is that time.
    """

    heat: Heat
    dark: Callable[[datetime], bool] = lambda _at: False
    asked: datetime = NOON
    present: Callable[[datetime], tuple[Labels, ...] | None] = lambda _at: None
    presence_asked: int = 0  # number of queries with presence

    async def query(self, query: PromQLQuery, *, at: datetime) -> QueryResult:
        if self.dark(self.asked):
            return Blind(source="prometheus", at=at, reason="refused")
        samples = tuple(
            Sample(labels=Labels({"node": node}), value=value)
            for node, value in self.heat(query.expr, at).items()
        )
        self.presence_asked += query.presence is not None
        present = None if query.presence is None else self.present(at)
        return Seen(source="prometheus", at=at, samples=samples, present=present)

    async def health(self, *, at: datetime) -> Blind | None:
        return Blind(source="prometheus", at=at, reason="refused") if self.dark(self.asked) else None


@dataclass(slots=True, kw_only=True)
class EvaluationStage:
    """A cluster's scheduler and recorder. `process()` creates them, as a restart does; the store stays."""

    rules: Sequence[Rule]
    metrics: Canned
    routes: tuple[Route, ...] = ()
    topology: Topology = field(default_factory=a_topology)
    store: MemoryStore | SqlStore = field(default_factory=MemoryStore)
    sees_cluster: bool = True
    router: QueryRouter = field(init=False)
    scheduler: RuleScheduler = field(init=False)
    recorder: IncidentRecorder = field(init=False)

    def __post_init__(self) -> None:
        self.process()

    def process(self) -> None:
        self.router = a_router(self.metrics)
        self.scheduler = RuleScheduler(CLUSTER, self.rules, self.router, a_renderer(self.topology))
        self.recorder = IncidentRecorder(CLUSTER, self.store, CardRouting(routes=self.routes, default="C1"))

    async def restart(self, minute: float) -> None:
        self.process()
        self.scheduler.restore(*await self.recorder.restore(), NOON + minute * EVERY)

    async def round(self, minute: float) -> EvaluationCycle:
        self.metrics.asked = NOON + minute * EVERY
        proven = await self.recorder.proven_alerts()
        cycle = await self.scheduler.run_cycle(self.metrics.asked, proven=proven)
        facts = await proof_facts(
            self.scheduler.rules,
            await self.recorder.unproven_rules(Proof.METRIC, cycle.updates),
            self.router,
            topology=self.topology if self.sees_cluster else None,
            now=cycle.at,
        )
        await self.recorder.record(cycle.batch(facts), rules=self.scheduler.rules, topology=self.topology)
        return cycle

    async def run(self, minutes: int, *, start: int = 0) -> None:
        for minute in range(start, minutes):
            await self.round(minute)

    async def alerts(self) -> Sequence[Alert]:
        return await self._rows(Alert)

    async def incidents(self) -> Sequence[Incident]:
        return await self._rows(Incident)

    async def cards(self) -> Sequence[PostedCard]:
        return await self._rows(PostedCard)

    async def lines(self) -> Sequence[ThreadReply]:
        return await self._rows(ThreadReply)

    async def _rows(self, row: type[Row]) -> Sequence[Row]:
        async with self.store.unit() as unit:
            return await unit.rows(row).find()

    async def silence(self, silence: Silence) -> None:
        async with self.store.unit() as unit:
            await unit.rows(Silence).put(silence)

    async def worded(self) -> list[ThreadReply]:
        """Return the replies with the words that they would be posted with now."""
        shared = CardContext(
            rules=lambda: self.scheduler.rules, training=lambda *_: None, blind=lambda *_: {}
        )
        lines = await self.lines()
        async with self.store.read() as snapshot:
            return [await CardCatalogue(shared).compose_reply(line, snapshot) for line in lines]

    async def said(self) -> list[tuple[str, str]]:
        """Return each reply's card and text."""
        return [(line.card, plain(line.text)) for line in await self.worded()]


def hot(*spans: tuple[int, int], node: str = "gpu-a01", value: float = 91) -> Heat:
    """Return a world that is hot in each span of minutes; the end is excluded."""

    def heat(_expr: str, at: datetime) -> Mapping[str, float]:
        minute = (at - NOON) / EVERY
        return {node: value} if any(begin <= minute < end for begin, end in spans) else {}

    return heat
