"""The episodes of recorded clusters: each has a stretch of time of its own in one Prometheus."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from tests.support.gpu_dialects import TEN, GpuNode
from tests.support.recorded_cluster import ALL_EXPORTERS, Fault, FaultKind, RecordedCluster
from tests.support.scrape_styles import KUBE_PROMETHEUS, ChartStyle

_FIRST = datetime(2026, 1, 1, tzinfo=UTC)
_APART = timedelta(days=8)  # more than the longest range of the rules: 7 days
HEALTHY = timedelta(minutes=12)  # recorded before a fault begins
AFTERWARDS = timedelta(minutes=24)


@dataclass(frozen=True, slots=True, kw_only=True)
class Episode:
    """A recorded cluster whose faults begin at `begins` and are fixed at `fixed`."""

    cluster: RecordedCluster
    begins: datetime
    fixed: datetime


def episode(
    number: int,
    *kinds: FaultKind | tuple[FaultKind, Sequence[str]],
    lasts: timedelta,
    nodes: tuple[GpuNode, ...] = TEN,
    style: ChartStyle = KUBE_PROMETHEUS,
    node_labels: Callable[[GpuNode], Mapping[str, str]] | None = None,
    dcgm_job: str = "",
    common: Mapping[str, str] | None = None,
    healthy: timedelta = HEALTHY,
    offered_after: timedelta = timedelta(),
    exporters: Collection[str] = ALL_EXPORTERS,
    also: tuple[GpuNode, ...] = (),
    metrics: Mapping[str, str] | None = None,
    unscraped: tuple[timedelta, timedelta] | None = None,
    made_by: Callable[..., RecordedCluster] = RecordedCluster,
) -> Episode:
    """Return the episode with these faults, each of all nodes or of those named. `number` is its place in time.

    `offered_after`: for so long after the end of an XID its GPU is not allocatable. `unscraped`: how long after the
    beginning of the faults Prometheus goes down, and for how long. `made_by` makes another kind of cluster.
    """
    start = _FIRST + number * _APART
    begins = start + healthy
    fixed = begins + lasts
    faults = tuple(
        Fault(kind=one, begins=begins, ends=fixed)
        if isinstance(one, FaultKind)
        else Fault(kind=one[0], nodes=frozenset(one[1]), begins=begins, ends=fixed)
        for one in kinds
    )
    if offered_after:
        later = fixed + offered_after
        faults += (Fault(kind=FaultKind.ALLOCATABLE, begins=begins, ends=later),)
    if unscraped:
        down = begins + unscraped[0]
        faults += (Fault(kind=FaultKind.UNSCRAPED, begins=down, ends=down + unscraped[1]),)
    cluster = made_by(
        nodes=nodes,
        start=start,
        end=fixed + AFTERWARDS,
        faults=faults,
        style=style,
        node_labels=node_labels,
        dcgm_job=dcgm_job,
        common=tuple((common or {}).items()),
        exporters=frozenset(exporters),
        also=also,
        metrics=tuple((metrics or {}).items()),
    )
    return Episode(cluster=cluster, begins=begins, fixed=fixed)
