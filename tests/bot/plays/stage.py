"""Plays a play through the real evaluation: rules, checks, grouping, recorder and composed cards, in virtual time."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from typing import Any

from alerts.alert import Alert
from alerts.cards.message import Buttons, Message
from alerts.cards.posted import CardKind, PostedCard
from alerts.incidents.incident import Incident
from alerts.rendering import RuleRenderer
from alerts.routing import CardRouting
from alerts.rules import Rule
from bot.cards.card_kind import CardContext
from bot.cards.incident_cards import INCIDENT_CARD
from bot.evaluation.proof_queries import proof_facts
from bot.evaluation.recorder import IncidentRecorder
from bot.evaluation.rulebook import read_rulebook
from bot.evaluation.scheduler import RuleScheduler
from bot.settings.schema import RulesSettings
from collectors.check import CheckInput, SourceState
from collectors.check_catalogue import CHECKS
from collectors.checks.gpu_metrics import MEASURED
from collectors.cluster.base import KubernetesObject
from collectors.cluster.inventory import Inventory
from collectors.cluster.kinds import DEFAULT_KINDS
from collectors.facts.labels import Labels
from collectors.facts.missing_metrics import MissingCause, MissingMetrics
from collectors.facts.queries import LogQuery, PromQLQuery, Query
from collectors.facts.results import Blind, QueryResult, Sample, Seen
from collectors.facts.topology import Topology
from collectors.gpu_activity import IDLE_AFTER, MEASURE, STEPS, UTIL, activity
from collectors.sources.elasticsearch.options import ElasticsearchOptions
from collectors.sources.elasticsearch.source import ElasticsearchSource
from collectors.sources.source_port import Source
from collectors.topology_builder import build_topology
from collectors.trainings.catalogue import read_trainings
from collectors.trainings.training import Training
from demo.lookalikes.elasticsearch.lookalike import ElasticsearchLookalike
from tests.bot.plays.play import START, LoggedLine, Play, read_cluster
from tests.support.log_documents import host_line, pod_line
from tests.support.memory_store import MemoryStore
from tests.support.objects import inventory, read
from tests.support.routing import QuietSource, a_router

CLUSTER = "prod-a"
CHANNEL = "slack:C1"
_NODES = tuple(f"gpu-a0{number}" for number in (1, 2, 3))
_EVERYWHERE = ("alert ", "silence ")


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What a play came to."""

    alerts: tuple[Alert, ...]  # that fire
    incidents: tuple[Incident, ...]
    messages: Mapping[str, Message]  # of the cards, by incident
    blind: Mapping[str, str]  # rules at the end, and why

    @property
    def fires(self) -> dict[str, str]:
        return {alert.labels["alertname"]: alert.labels["severity"] for alert in self.alerts}


@cache
def shipped() -> tuple[Rule, ...]:
    return tuple(rule for rule in read_rulebook(RulesSettings()).rules)


@dataclass
class PlayedMetrics(QuietSource):
    """Answers each rule's PromQL with what the play says that it gives."""

    play: Play

    async def query(self, query: Any, *, at: datetime) -> QueryResult:
        assert isinstance(query, PromQLQuery)
        if query.expr == MEASURED.expr:
            nodes = [name for name in _NODES if name not in self.play.unmeasured]
            samples = [Sample(labels=Labels({"Hostname": name}), value=8) for name in nodes]
        elif query.expr == activity(IDLE_AFTER).expr:
            samples = list(idle_samples(self.play.idle))
        else:
            rules = _named().get(query.expr, frozenset())
            samples = [
                Sample(labels=Labels(one.labels), value=one.value)
                for one in self.play.seen
                if one.rule in rules and at >= START + timedelta(minutes=one.after)
            ]
        return Seen(source=self.name, at=at, samples=tuple(samples))

    async def missing(
        self, queries: Mapping[str, Query], *, at: datetime
    ) -> Sequence[MissingMetrics] | Blind:
        return [
            MissingMetrics(
                exporter=exporter,
                metrics=metrics,
                rules=tuple(sorted(name for name in queries if _uses(queries[name], metrics))),
                cause=MissingCause.NO_TARGET,
                lost=metrics,
            )
            for exporter, metrics in self.play.lost.items()
        ]


def idle_samples(idle: Mapping[str, int]) -> Iterator[Sample]:
    """Yield what Prometheus has of GPUs that pods have held and not used."""
    for pod, count in idle.items():
        namespace, _, name = pod.partition("/")
        for number in range(count):
            of = {"exported_namespace": namespace, "exported_pod": name, "UUID": f"GPU-{number}"}
            yield Sample(labels=Labels({**of, MEASURE: f"{UTIL}/most"}), value=0)
            yield Sample(labels=Labels({**of, MEASURE: f"{UTIL}/seen"}), value=STEPS)


def _uses(query: Query, metrics: Sequence[str]) -> bool:
    return isinstance(query, PromQLQuery) and any(metric in query.expr for metric in metrics)


@cache
def _named() -> Mapping[str, frozenset[str]]:
    found: dict[str, frozenset[str]] = {}
    for rule in shipped():
        if isinstance(rule.query, PromQLQuery):
            found[rule.query.expr] = found.get(rule.query.expr, frozenset()) | {rule.name}
    return found


class NoLogs(QuietSource):
    """Logs in which nobody writes of anything."""

    name = "elasticsearch"
    query_types = frozenset({LogQuery})


class PlayedLogs(NoLogs):
    """Searches the play's lines; before the first of them there is nothing to find."""

    def __init__(self, source: ElasticsearchSource, first: datetime) -> None:
        self._source, self._first = source, first

    async def query(self, query: Any, *, at: datetime) -> QueryResult:
        if at < self._first:
            return await super().query(query, at=at)
        return await self._source.query(query, at=at)


@dataclass
class PlayStage:
    """One play while it is played."""

    play: Play
    logs: Source

    def __post_init__(self) -> None:
        self._seen: dict[int, tuple[Inventory, Sequence[Training], Topology]] = {}

    def cluster(self, at: datetime) -> tuple[Inventory, Sequence[Training], Topology]:
        """Return what the API shows then."""
        trees = self._trees(at)
        key = sum(at >= START + timedelta(minutes=one.after) for one in self.play.over_time)
        if key not in self._seen:
            found = inventory(*(_object(tree) for tree in trees if tree["kind"] != "ConfigMap"))
            trainings = read_trainings(found)
            self._seen[key] = found, trainings, build_topology(found, trainings, cluster=CLUSTER)
        return self._seen[key]

    def _trees(self, at: datetime) -> Sequence[Mapping[str, Any]]:
        later = [one.object for one in self.play.over_time if at >= START + timedelta(minutes=one.after)]
        by_name = {_name(tree): tree for tree in (*read_cluster(), *self.play.objects, *later)}
        return [
            tree
            for tree in by_name.values()
            if f"{tree['kind']}/{tree['metadata']['name']}" not in self.play.without
        ]

    def check_input(self, at: datetime, sources: tuple[SourceState, ...]) -> CheckInput:
        found, trainings, _ = self.cluster(at)
        configs = {
            f"{tree['metadata']['namespace']}/{tree['metadata']['name']}": tree["data"]
            for tree in self._trees(at)
            if tree["kind"] == "ConfigMap"
        }
        return CheckInput(at=at, inventory=found, trainings=trainings, configs=configs, sources=sources)

    async def run(self) -> Outcome:
        now = START
        store = MemoryStore()
        router = a_router(PlayedMetrics(self.play), self.logs, checks=CHECKS, check_input=self.check_input)
        renderer = RuleRenderer(lambda: self.cluster(now)[2], clean=lambda text: text)
        scheduler = RuleScheduler(CLUSTER, shipped(), router, renderer)
        recorder = IncidentRecorder(CLUSTER, store, CardRouting(default=CHANNEL))
        for minute in range(0, self.play.minutes + 1, self.play.every):
            now = START + timedelta(minutes=minute)
            topology = self.cluster(now)[2]
            cycle = await scheduler.run_cycle(now)
            facts = await proof_facts(scheduler.rules, (), router, topology=topology, now=now)
            await recorder.record(cycle.batch(facts), rules=scheduler.rules, topology=topology)
        trainings = {training.id: training for training in self.cluster(now)[1]}
        context = CardContext(
            rules=lambda: scheduler.rules,
            training=lambda _cluster, id: trainings.get(id),
            blind=lambda *_: {},
        )
        messages: dict[str, Message] = {}
        async with store.read() as snapshot:
            incidents = await snapshot.rows(Incident).find()
            alerts = [one for one in await snapshot.rows(Alert).find() if one.is_firing]
            for card in await snapshot.rows(PostedCard).find(kind=CardKind.INCIDENT):
                composed = await INCIDENT_CARD.compose(card, snapshot, context, now)
                assert composed.message is not None
                messages[card.row_id] = composed.message
        return Outcome(alerts=tuple(alerts), incidents=tuple(incidents), messages=messages, blind=cycle.blind)


def _name(tree: Mapping[str, Any]) -> tuple[str, str, str]:
    meta = tree["metadata"]
    return tree["kind"], meta.get("namespace", ""), meta["name"]


@cache
def _types() -> Mapping[str, type[KubernetesObject]]:
    return {kind.type.__name__: kind.type for kind in DEFAULT_KINDS}


def _object(tree: Mapping[str, Any]) -> KubernetesObject:
    return read(_types()[tree["kind"]], dict(tree))


def _document(line: LoggedLine, at: datetime) -> dict[str, Any]:
    if not line.pod:
        return host_line(at, line.text, node=line.node, unit=line.unit, level=line.level)
    namespace, _, name = line.pod.partition("/")
    return pod_line(
        at,
        line.text,
        node=line.node,
        namespace=namespace,
        pod=name,
        container=line.container,
        level=line.level,
    )


async def played(play: Play) -> Outcome:
    """Play it. Its lines go to a look-alike of Elasticsearch, which the real source searches."""
    async with AsyncExitStack() as stack:
        logs: Source = NoLogs()
        if play.lines:
            es = await stack.enter_async_context(ElasticsearchLookalike.running())
            before = [
                host_line(START - timedelta(days=day, minutes=1), "started", node=node, unit="kubelet")
                for day in range(9)
                for node in (*_NODES, "infra-01", "infra-02")
            ]
            lines = [
                _document(line, START + timedelta(minutes=line.minute, seconds=-30 + number))
                for line in play.lines
                for number in range(line.times)
            ]
            await es.index([*before, *lines])
            options = ElasticsearchOptions(
                urls=(es.url,), index="*", lag=timedelta(), timeout=timedelta(seconds=20)
            )
            source = await stack.enter_async_context(ElasticsearchSource(options))
            logs = PlayedLogs(source, START + timedelta(minutes=min(line.minute for line in play.lines) - 1))
        return await PlayStage(play, logs).run()


def offered_lines(message: Message) -> tuple[str, ...]:
    """Return the command lines of the card's buttons, without those that every card has."""
    return tuple(
        button.line
        for block in message.blocks
        if isinstance(block, Buttons)
        for button in block.flat.buttons
        if button.line and not button.line.startswith(_EVERYWHERE)
    )
