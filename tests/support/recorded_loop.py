"""The real rule loop over a recorded cluster: evaluated as of its own time, up to incidents and their cards."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta

from alerts.alert import Alert
from alerts.cards.message import Message
from alerts.cards.posted import CardKind, PostedCard
from alerts.incidents.incident import Incident
from alerts.rendering import RuleRenderer
from alerts.routing import CardRouting
from alerts.rules import Rule
from bot.cards.card_kind import CardContext
from bot.cards.incident_cards import INCIDENT_CARD
from bot.evaluation.cluster_view import ClusterView
from bot.evaluation.evaluator import Evaluator, RuleSources
from bot.evaluation.recorder import IncidentRecorder
from bot.evaluation.rulebook import read_rulebook
from bot.evaluation.scheduler import RuleScheduler
from bot.live_cluster import LiveCluster
from bot.metrics import Metrics
from bot.settings.schema import RulesSettings
from collectors.check_catalogue import CHECKS
from collectors.check_runner import CheckRunner
from collectors.query_router import QueryRouter
from collectors.sources.cluster_sources import ClusterSources
from collectors.sources.prometheus.options import PrometheusOptions
from collectors.sources.prometheus.source import PrometheusSource
from collectors.sources.source_port import Source
from tests.support.memory_store import MemoryStore
from tests.support.recorded_objects import ObjectsAt, RecordedCache
from tests.support.yard import text_of

CLUSTER = "lab"
EVERY = timedelta(minutes=1)
RULES: Mapping[str, Rule] = {rule.name: rule for rule in read_rulebook(RulesSettings()).rules}


@dataclass
class RecordedClock:
    """A clock that stands at a moment of the recording."""

    start: datetime
    at: datetime

    def now(self) -> datetime:
        return self.at

    def elapsed(self) -> timedelta:
        return self.at - self.start


@dataclass(kw_only=True)
class RuleLoop:
    """A cluster's evaluator with an empty store."""

    clock: RecordedClock
    evaluator: Evaluator
    view: ClusterView
    store: MemoryStore
    metrics: Metrics
    most_blind: float = 0  # rules that were blind in one cycle

    async def run(self, until: datetime, *, every: timedelta = EVERY) -> None:
        """Run cycles up to this moment."""
        while self.clock.at < until:
            self.clock.at = min(until, self.clock.at + every)
            await self.evaluator.run_cycle()
            blind = self.metrics.registry.get_sample_value("yardmaster_blind_rules", {"cluster": CLUSTER})
            self.most_blind = max(self.most_blind, blind or 0)

    async def incidents(self, *, is_open: bool | None = None) -> Sequence[Incident]:
        async with self.store.read() as snapshot:
            found = await snapshot.rows(Incident).find()
        return [one for one in found if is_open is None or one.is_open is is_open]

    async def alerts(self) -> Sequence[Alert]:
        async with self.store.read() as snapshot:
            return await snapshot.rows(Alert).find()

    async def cards(self) -> Mapping[str, Message]:
        """Return the card of each incident as a channel would show it now."""
        context = CardContext(
            rules=lambda: self.evaluator.rules,
            training=lambda _cluster, _id: None,
            blind=lambda _cluster, queries: self.view.blind_sources(queries),
        )
        found: dict[str, Message] = {}
        async with self.store.read() as snapshot:
            for card in await snapshot.rows(PostedCard).find(kind=CardKind.INCIDENT):
                composed = await INCIDENT_CARD.compose(card, snapshot, context, self.clock.now())
                if composed.message is not None:
                    assert card.row_id not in found, "one card per incident"
                    found[card.row_id] = composed.message
        return found

    async def shown(self) -> Mapping[str, str]:
        """Return the text of each incident's card."""
        return {id: text_of(message) for id, message in (await self.cards()).items()}


@asynccontextmanager
async def rule_loop(
    url: str,
    objects: ObjectsAt,
    *,
    start: datetime,
    rules: Sequence[str] = (),
    sources: Sequence[Source] = (),
) -> AsyncIterator[RuleLoop]:
    """A loop that begins at `start`, with the shipped rules of these names, or all of them."""
    clock = RecordedClock(start=start, at=start)
    prometheus = PrometheusSource(PrometheusOptions(url=url))
    try:
        all_sources = ClusterSources((prometheus, *sources))
        cache = RecordedCache(objects, clock.now).as_cache()
        cluster = LiveCluster(CLUSTER, clock=clock, cache=cache, sources=all_sources, snapshot_every=0)
        all_sources.follow(cluster.topology)
        chosen = tuple(RULES[name] for name in rules) if rules else tuple(RULES.values())
        router = QueryRouter(all_sources, CheckRunner(CHECKS, cluster.check_input))
        renderer = RuleRenderer(cluster.topology, clean=lambda text: text)
        store = MemoryStore()
        metrics = Metrics()
        scheduler = RuleScheduler(CLUSTER, chosen, router, renderer)
        view = ClusterView(scheduler, router, clock)
        evaluator = Evaluator(
            cluster,
            scheduler,
            IncidentRecorder(CLUSTER, store, CardRouting(default="C1")),
            router,
            rules=RuleSources(shipped=chosen),
            clock=clock,
            metrics=metrics,
            view=view,
        )
        await evaluator.start()
        yield RuleLoop(clock=clock, evaluator=evaluator, view=view, store=store, metrics=metrics)
    finally:
        await prometheus.close()
