"""Many nodes that break at once: from the recorder over delivery to a Slack at its limits, in virtual time."""

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from random import Random
from typing import Any

from alerts.alert import Alert
from alerts.alert_batch import AlertBatch
from alerts.cards.channel_id import channel_id
from alerts.cards.posted import PostedCard
from alerts.incidents.incident import Incident
from alerts.routing import CardRouting
from bot.cards.card_catalogue import CardCatalogue
from bot.cards.card_kind import CardContext
from bot.channels.slack.notifier import SlackNotifier
from bot.delivery.fallback import FallbackOptions
from bot.delivery.notifier_protocol import Notifier
from bot.delivery.reconciler import Reconciler
from bot.evaluation.recorder import IncidentRecorder
from bot.language.message_catalogue import ENGLISH, Catalogue
from bot.store.sql_store import SqlStore
from collectors.facts.clock import Clock
from collectors.facts.topology import NodeFacts, PodFacts, Topology, TrainingFacts
from tests.support.alerting import CLUSTER, a_rule, an_alert, resolved
from tests.support.chat import LoopClock
from tests.support.memory_store import MemoryStore
from tests.support.running_jobs import running
from tests.support.slack_in_process import SlackInProcess

RULES = ("NodeNotReady", "NodeUnreachable", "GPUGone", "KubeletDown")
EVERY = timedelta(seconds=15)


def a_site(
    nodes: Mapping[str, str],
    *,
    zone: str = "",
    trainings: Mapping[str, Sequence[str]] | None = None,
    places: Mapping[str, Mapping[str, str]] | None = None,
) -> Topology:
    """Return a cluster with these nodes and their racks, and trainings on some of them. `places`: by rack."""
    running = trainings or {}
    pods = [
        PodFacts(
            namespace=id.partition("/")[0],
            name=f"{id.partition('/')[2]}-{number}",
            node=node,
            training=id,
            gpus=8,
        )
        for id, on in running.items()
        for number, node in enumerate(on)
    ]
    return Topology(
        cluster=CLUSTER,
        nodes={
            name: NodeFacts(name=name, rack=rack, zone=zone, gpus=8, places=(places or {}).get(rack, {}))
            for name, rack in nodes.items()
        },
        pods={(pod.namespace, pod.name): pod for pod in pods},
        pods_on={node: tuple(pod for pod in pods if pod.node == node) for node in nodes},
        trainings={
            id: TrainingFacts(id=id, owner="ana", gpus=8 * len(on), ranks=len(on), nodes=tuple(on))
            for id, on in running.items()
        },
    )


def racks(count: int, size: int) -> dict[str, str]:
    """Return nodes and their racks: `n1-01` is in `r1`."""
    return {f"n{rack}-{node:02}": f"r{rack}" for rack in range(1, count + 1) for node in range(1, size + 1)}


@dataclass(slots=True, kw_only=True)
class StormStage:
    """A cluster's recorder, the store, and Slack. `restart()` is another process on the same store."""

    topology: Topology
    language: Catalogue = ENGLISH
    many_clusters: bool = False
    storm_from: int = 8
    channel: str = ""  # of all incidents, if it is not Slack's
    clock: Clock = field(default_factory=LoopClock)
    store: MemoryStore | SqlStore = field(default_factory=MemoryStore)
    slack: SlackInProcess = field(init=False)
    recorder: IncidentRecorder = field(init=False)
    rules: Mapping[str, Any] = field(default_factory=lambda: {rule.id: rule for rule in map(a_rule, RULES)})
    blind: dict[str, str] = field(default_factory=dict)
    others: dict[str, Notifier] = field(default_factory=dict)  # beside Slack, by kind
    fallback: FallbackOptions = field(default_factory=FallbackOptions)

    def __post_init__(self) -> None:
        self.slack = SlackInProcess(self.clock)
        self.restart()

    def restart(self) -> None:
        routing = CardRouting(default=self.channel or channel_id("slack", self.slack.id))
        self.recorder = IncidentRecorder(CLUSTER, self.store, routing, storm_from=self.storm_from)

    @property
    def catalogue(self) -> CardCatalogue:
        context = CardContext(
            rules=lambda: self.rules,
            training=lambda *_: None,
            blind=lambda *_: self.blind,
            has_menus=lambda _: True,
            many_clusters=self.many_clusters,
        )
        return CardCatalogue(context)

    @asynccontextmanager
    async def delivering(self) -> AsyncIterator[Reconciler]:
        """Deliver while the block lasts."""
        notifier = SlackNotifier(self.slack.client, self.language)
        reconciler = Reconciler(
            self.store,
            {"slack": notifier, **self.others},
            self.catalogue,
            clock=self.clock,
            fallback=self.fallback,
            random=Random(7),
        )
        async with running(self.store, reconciler):
            yield reconciler

    def alerts(
        self, nodes: Iterable[str], rules: Sequence[str] = RULES, *, severity: str = "critical"
    ) -> list[Alert]:
        """Return alerts that fire from now on."""
        return [
            an_alert(rule, node=node, at=self.clock.now(), topology=self.topology, severity=severity)
            for node in nodes
            for rule in rules
        ]

    async def cycle(self, changed: Iterable[Alert] = ()) -> None:
        """Record what an evaluation found."""
        now = self.clock.now()
        batch = AlertBatch(at=now, updates=tuple((alert, now) for alert in changed))
        await self.recorder.record(batch, rules=self.rules, topology=self.topology)

    async def fire(self, nodes: Iterable[str], rules: Sequence[str] = RULES, **more: Any) -> list[Alert]:
        alerts = self.alerts(nodes, rules, **more)
        await self.cycle(alerts)
        return alerts

    async def end(self, alerts: Iterable[Alert]) -> None:
        await self.cycle([resolved(alert, self.clock.now()) for alert in alerts])

    async def incidents(self, **wanted: Any) -> Sequence[Incident]:
        async with self.store.read() as snapshot:
            return await snapshot.rows(Incident).find(**wanted)

    async def cards(self) -> Sequence[PostedCard]:
        async with self.store.read() as snapshot:
            return await snapshot.rows(PostedCard).find()
