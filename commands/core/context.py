"""This file has the desk: what a command may look at and ask while it answers or plans."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Protocol

from alerts.rules import Rule
from collectors.cluster.inventory import Inventory
from collectors.facts.queries import PromQLQuery
from collectors.facts.results import QueryResult
from collectors.facts.topology import Topology
from collectors.sources.elasticsearch.hits import LogLine
from collectors.trainings.training import Training
from commands.core.request import Actor, Upload
from commands.plans.plan import Origin
from commands.plans.steps import ObjectRef
from commands.store import Store


class MetricsQuerier(Protocol):
    async def query(self, query: PromQLQuery, *, at: datetime) -> QueryResult: ...


class LogReader(Protocol):
    async def lines(
        self,
        *,
        where: Mapping[str, str | Sequence[str]],
        at: datetime,
        since: datetime | None = None,
        tail: int = 100,
    ) -> Sequence[LogLine]:
        """The newest lines of a pod, a node or a namespace, oldest first. Raises SourceError."""
        ...


class PodLogReader(Protocol):
    async def logs(
        self, namespace: str, pod: str, *, container: str = "", tail: int = 100, previous: bool = False
    ) -> str: ...


class ObjectReader(Protocol):
    async def read(self, ref: ObjectRef) -> dict[str, Any] | None:
        """The object as it is now, None when it is not there. Raises SourceError."""
        ...

    async def listing(self, ref: ObjectRef) -> Sequence[dict[str, Any]]:
        """All objects of that kind in that namespace; the name does not count. Raises SourceError."""
        ...


class Cluster(Protocol):
    """One cluster, and our sources to it. A source that the settings leave out is None."""

    @property
    def name(self) -> str: ...

    @property
    def prometheus(self) -> MetricsQuerier | None: ...

    @property
    def logs(self) -> LogReader | None: ...

    @property
    def pod_logs(self) -> PodLogReader | None: ...

    @property
    def reader(self) -> ObjectReader | None: ...

    def inventory(self) -> Inventory:
        """The cluster in memory. Raises SourceError when it cannot be seen."""
        ...

    def trainings(self) -> Sequence[Training]: ...

    def topology(self) -> Topology: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Defaults:
    """How the commands behave where sites differ. Durations are defaults that a line may override."""

    idle_after: timedelta = timedelta(minutes=30)
    reclaim_grace: timedelta = timedelta(minutes=30)
    cordon_for: timedelta = timedelta(hours=4)
    plan_expires: timedelta = timedelta(minutes=30)
    dns_namespace: str = "kube-system"
    dns_selector: Mapping[str, str] = field(default_factory=lambda: {"k8s-app": "kube-dns"})
    pull_secret: str = ""  # namespace/name of the registry secret that a new training gets a copy of
    training_images: tuple[str, ...] = ("*",)  # patterns
    owners: Mapping[str, str] = field(
        default_factory=dict
    )  # an owner as the cluster names them -> their chat id
    redact: tuple[str, ...] = ()  # patterns on top of the shipped ones, for log lines that are shown


class Confirm(Protocol):
    """Confirms a proposed plan: the pipeline's own act, handed to `plan confirm`."""

    async def __call__(self, id: str, *, hash: str, actor: Actor) -> Any: ...


class Refuse(Protocol):
    """Says why this desk's actor may not run a command in those namespaces, or None: the pipeline's permissions."""

    def __call__(self, name: str, namespaces: Sequence[str]) -> str | None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandContext:
    """Everything one command may use. Nothing here writes to the cluster."""

    actor: Actor
    now: datetime
    cluster: Cluster
    store: Store
    origin: Origin = field(default_factory=Origin)
    defaults: Defaults = field(default_factory=Defaults)
    uploads: tuple[Upload, ...] = ()
    confirm: Confirm | None = None
    rules: Mapping[str, Rule] = field(default_factory=dict)  # by id
    may: Mapping[str, bool] = field(default_factory=dict)  # command name -> whether this actor may run it
    refuse: Refuse | None = None

    def refusal(self, name: str, *namespaces: str) -> str | None:
        """Why the actor may not run another command there, or None. Without a judge the answer is no."""
        return self.refuse(name, namespaces) if self.refuse else f"`{name}` is not given to you."
