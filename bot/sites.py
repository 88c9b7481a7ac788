"""This file opens our sources to a cluster, and keeps what they show: inventory, trainings, topology."""

from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from datetime import datetime, timedelta

from bot.settings import BasicAuth, ClusterSettings, ElasticsearchSettings, PrometheusSettings, secret
from collectors.checks.check import CheckInput, SourceState
from collectors.cluster.cache import ClusterCache, ReflectorTiming
from collectors.cluster.inventory import Inventory, inventory_of
from collectors.cluster.kinds import DNS_AUTOSCALERS
from collectors.facts.clock import Clock
from collectors.facts.errors import SourceError
from collectors.facts.redaction import Redactor
from collectors.facts.results import Blind
from collectors.facts.topology import Topology
from collectors.sources.elasticsearch.settings import Credentials, ElasticsearchOptions, fields_with
from collectors.sources.elasticsearch.source import ElasticsearchSource
from collectors.sources.kubernetes import KubernetesSource
from collectors.sources.kubernetes_client import KubernetesClient, KubernetesOptions
from collectors.sources.prometheus import PrometheusOptions, PrometheusSource
from collectors.topology_builder import build_topology
from collectors.trainings.catalogue import read_trainings, unseen_kinds
from collectors.trainings.views import Training
from commands.cluster import ClusterWriter

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
    return "; ".join(f"trainings made of a {kind} cannot be seen: {why}" for kind, why in found)


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
            pod_logs, clock=clock, stale_after=names.stale_after, timing=_pace(names.stale_after)
        )
        writer = ClusterWriter(client)
    prometheus = logs = None
    if settings.prometheus is not None:
        prometheus = PrometheusSource(_prometheus(settings.prometheus))
        stack.push_async_callback(prometheus.close)
    if settings.elasticsearch is not None:
        logs = ElasticsearchSource(_elasticsearch(settings.elasticsearch, redact))
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


def _pace(stale_after: timedelta) -> ReflectorTiming:
    """How often the cache has to hear something, so that a quiet cluster is never taken for one that is gone."""
    usual, seconds = ReflectorTiming(), stale_after.total_seconds()
    return ReflectorTiming(
        watch=min(usual.watch, seconds * 0.4),
        grace=min(usual.grace, seconds * 0.2),
        longest_wait=min(usual.longest_wait, seconds * 0.3),
        refused_wait=min(usual.refused_wait, seconds),
    )


def _prometheus(settings: PrometheusSettings) -> PrometheusOptions:
    given = settings.authorization
    token = secret(given.credentials, given.credentials_file) if given else None
    kind = given.type if given else ""
    basic = settings.basic_auth
    tls = settings.tls_config
    return PrometheusOptions(
        url=settings.url,
        headers={name: value.get_secret_value() for name, value in settings.http_headers.items()},
        params=settings.params,
        authorization=(lambda: f"{kind} {token()}") if token else None,
        basic_auth=_login(basic) if basic else None,
        ca_file=tls.ca_file,
        cert_file=tls.cert_file,
        key_file=tls.key_file,
        insecure=tls.insecure_skip_verify,
        proxy_url=settings.proxy_url.get_secret_value() if settings.proxy_url else "",
        timeout=settings.timeout,
        stale_after=settings.stale_after,
    )


def _login(basic: BasicAuth) -> Callable[[], tuple[str, str]]:
    password = secret(basic.password, basic.password_file)
    return lambda: (basic.username, password() if password else "")


def _elasticsearch(settings: ElasticsearchSettings, redact: Redactor) -> ElasticsearchOptions:
    urls = (settings.url,) if isinstance(settings.url, str) else settings.url
    own = {word: (names,) if isinstance(names, str) else names for word, names in settings.fields.items()}
    key = secret(settings.api_key, settings.api_key_file)
    basic = settings.basic_auth
    login = _login(basic) if basic else None

    def credentials() -> Credentials | None:
        if key is not None:
            return Credentials(api_key=key())
        if login is not None:
            name, password = login()
            return Credentials(username=name, password=password)
        return None

    return ElasticsearchOptions(
        urls=urls,
        index=settings.index,
        fields=fields_with(own),
        credentials=credentials,
        ca_file=settings.ca_file,
        timeout=settings.timeout,
        lag=settings.lag,
        stale_after=settings.stale_after,
        redact=redact.clean,
    )
