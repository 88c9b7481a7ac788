"""The port of sources: a server that answers queries about one cluster, and log lines for people."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Protocol, runtime_checkable

from collectors.facts.findings import Finding
from collectors.facts.missing_metrics import MissingMetrics
from collectors.facts.queries import Query
from collectors.facts.results import Blind, LineLabels, LinePage, LogLine, QueryResult, Series, SourceError
from collectors.facts.topology import Topology


class Source(Protocol):
    """One server of one cluster. `ClusterSources` contains what goes wrong in it.

    What it cannot answer, or not completely, is Blind: an empty result means that the condition holds nowhere.
    """

    @property
    def name(self) -> str:
        """The field of the cluster's settings that configures it; it is on cards and in metrics."""
        ...

    @property
    def query_types(self) -> frozenset[type[Query]]:
        """The types of queries that it answers. No other source of the cluster answers them."""
        ...

    async def query(self, query: Any, *, at: datetime) -> QueryResult:
        """Return the samples as of that moment, which may be long ago."""
        ...

    async def range(
        self, query: Any, *, start: datetime, end: datetime, step: timedelta
    ) -> tuple[Series, ...]:
        """Return what the query's samples were at `start`, `start + step` and so on up to `end`.

        Raises SourceError; TooLargeError when a shorter range may be answered.
        """
        ...

    async def health(self, *, at: datetime) -> Blind | None:
        """Return Blind when the server's results cannot be trusted now. It is called once per cycle."""
        ...

    async def hole(self, *, at: datetime) -> Blind | None:
        """Return Blind when nothing was recorded around that moment, so that its results resolve nothing."""
        ...

    async def close(self) -> None:
        """Close the connections. Queries that run or wait become Blind."""
        ...


@runtime_checkable
class LogReader(Protocol):
    """A source, or another server, that has log lines for people."""

    async def lines(
        self, *, where: LineLabels, at: datetime, since: datetime | None = None, tail: int = 100
    ) -> Sequence[LogLine]:
        """Return the newest lines of a pod, a node or a namespace, oldest first. Raises SourceError."""
        ...

    async def page(
        self, *, where: LineLabels, since: datetime, until: datetime, size: int = 200, after: str = ""
    ) -> LinePage:
        """Return a page of the lines of pods, nodes or components between two times, newest first. Raises SourceError.

        `after` is that of the page before, empty for the first. A page has at most 1,000 lines.
        """
        ...


@runtime_checkable
class TopologyFollower(Protocol):
    """A source that compares what its series say with the nodes and pods of the cluster."""

    def follow(self, topology: Callable[[], Topology]) -> None:
        """Use this topology from now on; it is empty while the cluster is not known."""
        ...


@runtime_checkable
class Diagnosable(Protocol):
    """A source that can say more about itself than its health."""

    async def diagnose(self, queries: Mapping[str, Query], *, at: datetime) -> Sequence[Finding]:
        """Return what is missing for these queries, which are by their rules' names. Raises no SourceError."""
        ...


@runtime_checkable
class MetricsDiagnosable(Protocol):
    """A source of metrics that can say which of them are not there."""

    async def missing(
        self, queries: Mapping[str, Query], *, at: datetime
    ) -> Sequence[MissingMetrics] | Blind:
        """Return which metrics these queries, which are by their rules' names, need and have no series of."""
        ...


async def query_each_step(
    source: Source, query: Query, *, start: datetime, end: datetime, step: timedelta
) -> tuple[Series, ...]:
    """Return a range one query at a time, for a server that answers no ranges. Raises SourceError."""
    points: dict[Any, list[tuple[float, float]]] = {}
    for number in range((end - start) // step + 1):
        at = start + number * step
        found = await source.query(query, at=at)
        if isinstance(found, Blind):
            raise SourceError(found.reason, temporary=not found.is_lasting)
        for sample in found.samples:
            points.setdefault(sample.labels, []).append((at.timestamp(), sample.value))
    return tuple(Series(labels=labels, points=tuple(found)) for labels, found in points.items())
