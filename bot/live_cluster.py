"""This file opens our sources to a cluster, and keeps what they show: inventory, trainings, topology."""

from collections.abc import Sequence
from contextlib import AsyncExitStack
from datetime import datetime

from bot.settings.schema import ClusterSettings
from bot.settings.source_options import elasticsearch_options, prometheus_options, reflector_timing
from collectors.checks.check import CheckInput, SourceState
from collectors.cluster.cache import ClusterCache
from collectors.cluster.inventory import Inventory, inventory_of
from collectors.cluster.kinds import DNS_AUTOSCALERS
from collectors.facts.clock import Clock
from collectors.facts.redaction import Redactor
from collectors.facts.results import Blind, SourceError
from collectors.facts.topology import Topology
from collectors.sources.elasticsearch.source import ElasticsearchSource
from collectors.sources.kubernetes.client import KubernetesClient, KubernetesOptions
from collectors.sources.kubernetes.source import KubernetesSource
from collectors.sources.prometheus.source import PrometheusSource
from collectors.topology_builder import build_topology
from collectors.trainings.catalogue import read_trainings, unseen_kinds
from collectors.trainings.training import Training
from commands.plans.cluster_writer import ClusterWriter

NOTHING_KNOWN = "the settings give no access to Kubernetes for this cluster"


class LiveCluster:
    """One cluster as everybody in the house sees it. What is derived from the cache is kept until it changes."""

    def __init__(
        self,
        name: str,
        *,
        clock: Clock,
        cache: ClusterCache | None = None,
        prometheus: PrometheusSource | None = None,
        logs: ElasticsearchSource | None = None,
        pod_logs: KubernetesSource | None = None,
        writer: ClusterWriter | None = None,
    ) -> None:
        self.name = name
        self.cache = cache
        self.prometheus = prometheus
        self.logs = logs
        self.pod_logs = pod_logs
        self.writer = writer
        self._clock = clock
        self._seen: tuple[int, frozenset[str]] = -1, frozenset()
        self._inventory: Inventory | None = None
        self._trainings: tuple[Training, ...] = ()
        self._topology = Topology(cluster=name)

    @property
    def reader(self) -> ClusterWriter | None:
        return self.writer

    def refresh(self) -> Inventory | Blind:
        """The inventory now, or why it cannot be had."""
        now = self._clock.now()
        if self.cache is None:
            return Blind(source="kubernetes", at=now, reason=NOTHING_KNOWN)
        seen = self.cache.version, self.cache.blind_kinds()
        if self._inventory is None or seen != self._seen:
            found = inventory_of(self.cache)
            if isinstance(found, Blind):
                return found
            self._inventory = found
            self._trainings = read_trainings(found)
            self._topology = build_topology(found, self._trainings, cluster=self.name)
            self._seen = seen
        return self._inventory

    def inventory(self) -> Inventory:
        found = self.refresh()
        if isinstance(found, Blind):
            raise SourceError(found.reason)
        return found

    def trainings(self) -> Sequence[Training]:
        """All of them. Raises SourceError while a kind of which they are made cannot be seen: they are not gone."""
        if unseen := _unseen(self.inventory()):
            raise SourceError(unseen)
        return self._trainings

    def training(self, id: str) -> Training | None:
        """The training called namespace/name, in the last picture that was had."""
        self.refresh()
        return next((view for view in self._trainings if view.id == id), None)

    def topology(self) -> Topology:
        """The last picture that was had; an empty one before the first."""
        self.refresh()
        return self._topology

    def check_input(self, at: datetime, sources: tuple[SourceState, ...]) -> CheckInput:
        """What checks look at."""
        inventory = self.refresh()
        trainings: Sequence[Training] | Blind = self._trainings
        if isinstance(inventory, Blind):
            trainings = inventory
        elif unseen := _unseen(inventory):
            trainings = Blind(source="kubernetes", at=at, reason=unseen)
        return CheckInput(
            at=at,
            inventory=inventory,
            trainings=trainings,
            configs=self._configs(at),
            sources=sources,
        )

    def _configs(self, at: datetime) -> dict[str, dict[str, str]] | Blind:
        if self.cache is None:
            return Blind(source="kubernetes", at=at, reason=NOTHING_KNOWN)
        found: dict[str, dict[str, str]] = {}
        for kind in DNS_AUTOSCALERS:
            snapshot = self.cache.snapshot(kind)
            if isinstance(snapshot, Blind):
                return snapshot
            found |= {key: config.data or {} for key, config in snapshot.objects.items()}
        return found


def _unseen(inventory: Inventory) -> str:
    """Why the trainings cannot be told whole; empty when they can."""
    found = unseen_kinds(inventory).items()
    return "; ".join(f"trainings made of a {kind} cannot be seen: {reason}" for kind, reason in found)


async def open_cluster(
    settings: ClusterSettings, *, clock: Clock, redact: Redactor, stack: AsyncExitStack
) -> LiveCluster:
    """Open the sources that the settings name; `stack` closes them. Raises SourceError for a wrong kubeconfig."""
    cache = pod_logs = writer = None
    if settings.kubernetes is not None:
        names = settings.kubernetes
        client = await KubernetesClient.connect(
            KubernetesOptions(kubeconfig=names.kubeconfig, context=names.context)
        )
        stack.push_async_callback(client.close)
        pod_logs = KubernetesSource(client)
        cache = ClusterCache(
            pod_logs, clock=clock, stale_after=names.stale_after, timing=reflector_timing(names.stale_after)
        )
        writer = ClusterWriter(client)
    prometheus = logs = None
    if settings.prometheus is not None:
        prometheus = PrometheusSource(prometheus_options(settings.prometheus))
        stack.push_async_callback(prometheus.close)
    if settings.elasticsearch is not None:
        logs = ElasticsearchSource(elasticsearch_options(settings.elasticsearch, redact))
        stack.push_async_callback(logs.close)
    return LiveCluster(
        settings.name,
        clock=clock,
        cache=cache,
        prometheus=prometheus,
        logs=logs,
        pod_logs=pod_logs,
        writer=writer,
    )
