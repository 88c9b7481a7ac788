"""Cluster checks and their input."""

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from collectors.cluster.inventory import Inventory
from collectors.cluster.kinds import NODES, PODS, RESOURCE_CLAIMS
from collectors.facts.clock import ClockStep
from collectors.facts.labels import Labels
from collectors.facts.missing_metrics import MissingMetrics
from collectors.facts.queries import LogQuery, PromQLQuery
from collectors.facts.results import Blind, Sample
from collectors.trainings.training import Training


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceState:
    """The state of one source. `blind_for` is None while it is healthy; `rules` are blind although it is healthy."""

    source: str
    blind_for: timedelta | None = None
    reason: str = ""
    rules: Mapping[str, str] = field(default_factory=dict)  # rule name -> reason


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckInput:
    """The cluster at one moment. An input that is not available is Blind."""

    at: datetime
    inventory: Inventory | Blind
    trainings: Sequence[Training] | Blind
    configs: Mapping[str, Mapping[str, str]] | Blind  # cached ConfigMaps: namespace/name -> data
    sources: Sequence[SourceState]
    clock_step: ClockStep | None = None  # the last large one, for a while
    metrics: Sequence[Sample] | Blind = ()  # what the check's own query gives
    logs: Sequence[Sequence[Sample]] | Blind = ()  # what each of its log searches gives
    missing: (
        Sequence[MissingMetrics] | Blind
    ) = ()  # metrics that rules in force need, and that have no series
    # The labels of the alerts of the check's own rule that are pending or firing: whether they fire.
    standing: Mapping[Labels, bool] = field(default_factory=dict)


Found = Iterable[Sample | None]  # None: others may run now

_OF_INVENTORY = frozenset({NODES.name, PODS.name, RESOURCE_CLAIMS.name})
INPUTS = frozenset({"inventory", "trainings", "configs", "sources", "metrics", "missing", "logs"})


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterCheck:
    """A check: the inputs it needs, its parameters with their defaults, and its function.

    When `run` is called, no input in `needs` is Blind, and none of the cached `kinds` is missing from the
    inventory. `metrics` is a query whose samples it needs besides, and `logs` are such log searches.

    A check that looks at every node or pod is a generator that yields None at each of them: there may be 50,000, and
    the event loop keeps running meanwhile. Its input does not change.

    It is declared above its function: `@partial(ClusterCheck, name=..., summary=...)`.
    """

    run: Callable[[CheckInput, Mapping[str, Any]], Found] = field(kw_only=False)
    name: str
    summary: str
    needs: Set[str] = frozenset({"inventory"})
    parameters: Mapping[str, object] = field(default_factory=dict)
    kinds: Set[str] = frozenset()  # besides nodes and pods, without which there is no inventory
    metrics: PromQLQuery | None = None
    logs: tuple[LogQuery, ...] = ()

    def __post_init__(self) -> None:
        if unknown := self.needs - INPUTS:
            raise ValueError(f"{self.name}: unknown input: {', '.join(sorted(unknown))}")

    @property
    def reads(self) -> frozenset[str]:
        """The kinds that it reads. Trainings are read with their pods, and the GPUs of an inventory by their claims."""
        cached = _OF_INVENTORY if self.needs & {"inventory", "trainings"} else frozenset()
        return cached.union(self.kinds)

    @property
    def queries(self) -> tuple[PromQLQuery | LogQuery, ...]:
        """The queries whose results it needs: `metrics`, then `logs`."""
        return (*((self.metrics,) if self.metrics is not None else ()), *self.logs)
