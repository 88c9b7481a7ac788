"""A cluster's sources, and what they show: inventory, trainings, topology."""

import asyncio
from collections.abc import Collection, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial

from bot.settings.source_options import reflector_timing
from bot.settings.source_settings import ClusterSettings
from bot.source_catalogue import SOURCES, SourceCatalogue, SourceParts, open_sources
from collectors.blind_checks import blind_checks
from collectors.check import CheckInput, SourceState
from collectors.check_catalogue import CHECKS
from collectors.check_runner import with_metrics
from collectors.cluster.cache import ClusterCache
from collectors.cluster.inventory import Inventory, inventory_of
from collectors.cluster.kinds import DNS_AUTOSCALERS, NODES, PODS
from collectors.facts.clock import Clock, ClockSteps
from collectors.facts.findings import Finding
from collectors.facts.places import PLACE_LABELS
from collectors.facts.queries import Query
from collectors.facts.results import Blind, QueryResult, SourceError
from collectors.facts.sentences import listed, sentence
from collectors.facts.topology import Topology
from collectors.internal_errors import InternalErrors
from collectors.sources.cluster_sources import ClusterSources
from collectors.sources.kubernetes.client import KubernetesClient, KubernetesOptions
from collectors.sources.kubernetes.source import KubernetesSource
from collectors.sources.source_port import LogReader
from collectors.topology_builder import build_topology
from collectors.trainings.catalogue import each_training, left_out, read_trainings, unseen_kinds
from collectors.trainings.training import Training, training_of_row
from commands.execution.cluster_writer import ClusterWriter

STARTING = sentence("its objects are being listed, and their trainings read")
NO_KUBERNETES = sentence("the settings give no access to Kubernetes for this cluster")
# Those that run at once for people; a source runs twice as many, and the evaluation needs the others.
QUERIES_OF_LINES = 4
SNAPSHOT_EVERY = 1.0  # seconds: a large cluster changes a hundred times as often


@dataclass(frozen=True, slots=True, kw_only=True)
class _Derived:
    """What was derived from the cache at one moment."""

    made_at: float  # by the loop's clock
    version: int  # of the cache
    blind: frozenset[str]  # kinds
    inventory: Inventory | Blind  # Blind: it could not be derived
    trainings: tuple[Training, ...] = ()
    topology: Topology


class LiveCluster:
    """One cluster, shared by all parts, as it was at most `snapshot_every` seconds ago.

    `clock_steps`: the clock steps that its checks report; None in all clusters but one, whose card is enough.
    `places`: the labels of nodes that say what they are a part of.
    """

    def __init__(
        self,
        name: str,
        *,
        clock: Clock,
        cache: ClusterCache | None = None,
        sources: ClusterSources | None = None,
        pod_logs: KubernetesSource | None = None,
        writer: ClusterWriter | None = None,
        errors: InternalErrors | None = None,
        snapshot_every: float = SNAPSHOT_EVERY,
        clock_steps: ClockSteps | None = None,
        places: Mapping[str, tuple[str, ...]] = PLACE_LABELS,
    ) -> None:
        self.name = name
        self._places = places
        self.cache = cache
        self.sources = sources or ClusterSources()
        self.logs: LogReader | None = self.sources.logs
        self.pod_logs = pod_logs
        self.writer = writer
        self.clock_steps = clock_steps
        self._lines = asyncio.Semaphore(QUERIES_OF_LINES)
        self._clock = clock
        self._errors = errors or InternalErrors()
        self._snapshot_every = snapshot_every
        self._derived: _Derived | None = None
        self._prepared: Inventory | None = None  # the first one, whose trainings are read
        self._is_preparing = False

    async def query(self, query: Query, *, at: datetime) -> QueryResult:
        """Return the result for somebody's line. Few run at once, so that those of the evaluation find a slot."""
        async with self._lines:
            return await self.sources.query(query, at=at)

    async def diagnose(
        self, queries: Mapping[str, Query], *, at: datetime, within: timedelta
    ) -> Mapping[str, Sequence[Finding]]:
        """Return what each source misses for these queries, and what of Kubernetes checks cannot see."""
        checks = blind_checks(queries, self.refresh())
        found = await self.sources.diagnose(with_metrics(queries, CHECKS), at=at, within=within)
        return {**found, "kubernetes": checks}

    @property
    def reader(self) -> ClusterWriter | None:
        return self.writer

    async def synced(self, within: timedelta) -> None:
        """Wait for the first snapshot of every kind that is watched. Raises TimeoutError that names what is missing.

        The trainings are read one by one, because all at once would hold up the event loop.
        """
        if self.cache is None:
            return
        self._is_preparing = self._derived is None
        try:
            late: TimeoutError | None = None
            try:
                await self.cache.synced(within)
            except TimeoutError as error:
                late = error
            if self._is_preparing:
                await self._prepare(self.cache)
            if late is not None:
                raise late
        finally:
            self._is_preparing = False

    async def _prepare(self, cache: ClusterCache) -> None:
        """Read the trainings of the first inventory; later ones are read again only where something changed."""
        found = inventory_of(cache)
        if isinstance(found, Blind):
            return
        try:
            for _ in each_training(found):
                await asyncio.sleep(0)
        except Exception as error:  # `refresh` meets it again, and says that this cluster cannot be seen
            self._errors.contain(error, "kubernetes", cluster=self.name)
        self._prepared = found

    def refresh(self) -> Inventory | Blind:
        """Return the current inventory, or why it cannot be seen."""
        if self.cache is None:
            return Blind(source="kubernetes", at=self._clock.now(), reason=NO_KUBERNETES)
        if self._is_preparing and self.cache.blind_kinds().isdisjoint((NODES.name, PODS.name)):
            return Blind(source="kubernetes", at=self._clock.now(), reason=STARTING)
        now, blind = asyncio.get_running_loop().time(), self.cache.blind_kinds()
        last = self._derived
        if last is not None and last.blind == blind:
            is_recent = now - last.made_at < self._snapshot_every
            if is_recent or last.version == self.cache.version:
                return last.inventory
        found = inventory_of(self.cache, last.inventory if last is not None else self._prepared)
        if isinstance(found, Blind):
            return found
        self._prepared = None
        derived = partial(_Derived, made_at=now, version=self.cache.version, blind=blind)
        try:
            trainings = read_trainings(found)
            topology = build_topology(found, trainings, cluster=self.name, places=self._places)
            self._derived = derived(inventory=found, trainings=trainings, topology=topology)
        except Exception as error:  # an odd object must not end what reads the others
            reason = self._errors.contain(error, "kubernetes", cluster=self.name)
            odd = Blind(source="kubernetes", at=self._clock.now(), reason=reason)
            self._derived = derived(inventory=odd, trainings=self._trainings, topology=self._topology)
        return self._derived.inventory

    @property
    def _topology(self) -> Topology:
        return self._derived.topology if self._derived is not None else Topology(cluster=self.name)

    @property
    def _trainings(self) -> tuple[Training, ...]:
        return self._derived.trainings if self._derived is not None else ()

    def inventory(self) -> Inventory:
        found = self.refresh()
        if isinstance(found, Blind):
            raise SourceError(found.reason)
        return found

    def trainings(self) -> Sequence[Training]:
        """Return all trainings. Raises SourceError while a kind they consist of cannot be seen."""
        if unseen := _unseen(self.inventory()):
            raise SourceError(unseen)
        return self._trainings

    def training(self, id: str) -> Training | None:
        """Return the training of this key in the last snapshot."""
        self.refresh()
        return training_of_row(id, self._trainings)

    def topology(self) -> Topology:
        """Return the topology of the last snapshot; empty before the first."""
        self.refresh()
        return self._topology

    def check_input(self, at: datetime, sources: tuple[SourceState, ...]) -> CheckInput:
        """Return the input of checks."""
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
            clock_step=self.clock_steps.recent() if self.clock_steps is not None else None,
        )

    def _configs(self, at: datetime) -> dict[str, dict[str, str]] | Blind:
        if self.cache is None:
            return Blind(source="kubernetes", at=at, reason=NO_KUBERNETES)
        found: dict[str, dict[str, str]] = {}
        for kind in DNS_AUTOSCALERS:
            snapshot = self.cache.snapshot(kind)
            if isinstance(snapshot, Blind):
                return snapshot
            found |= {key: config.data or {} for key, config in snapshot.objects.items()}
        return found


def _unseen(inventory: Inventory) -> str:
    """Return why not all trainings can be seen; empty when they can."""
    return listed(
        (
            sentence("trainings of kind {kind} cannot be seen: {reason}", kind=kind, reason=reason)
            for kind, reason in unseen_kinds(inventory).items()
        ),
        ";",
    )


async def open_cluster(
    settings: ClusterSettings,
    *,
    clock: Clock,
    parts: SourceParts,
    stack: AsyncExitStack,
    catalogue: SourceCatalogue = SOURCES,
    clock_steps: ClockSteps | None = None,
    training_kinds: Collection[str] = (),
) -> LiveCluster:
    """Open the configured sources; `stack` closes them. Raises SourceError for an invalid kubeconfig."""
    cache = pod_logs = writer = None
    if settings.kubernetes is not None:
        kube = settings.kubernetes
        client = await KubernetesClient.connect(
            KubernetesOptions(kubeconfig=kube.kubeconfig, context=kube.context)
        )
        stack.push_async_callback(client.close)
        pod_logs = KubernetesSource(client)
        cache = ClusterCache(
            pod_logs,
            clock=clock,
            stale_after=kube.stale_after,
            timing=reflector_timing(kube.stale_after),
            errors=parts.errors,
            without=left_out(training_kinds),
        )
        writer = ClusterWriter(client)
    cluster = LiveCluster(
        settings.name,
        clock=clock,
        cache=cache,
        sources=await open_sources(settings, parts, stack, catalogue),
        pod_logs=pod_logs,
        writer=writer,
        errors=parts.errors,
        clock_steps=clock_steps,
        places={kind: (*settings.places.get(kind, ()), *labels) for kind, labels in PLACE_LABELS.items()},
    )
    if cache is not None:
        cluster.sources.follow(cluster.topology)
    return cluster
