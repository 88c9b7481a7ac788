"""Query routers over made-up sources."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, ClassVar

from collectors.check import CheckInput, ClusterCheck, SourceState
from collectors.check_runner import CheckRunner
from collectors.facts.queries import PromQLQuery, Query
from collectors.facts.results import Blind, QueryResult, Seen, Series
from collectors.internal_errors import InternalErrors
from collectors.query_router import CONCURRENCY, QueryRouter
from collectors.sources.cluster_sources import DEADLINE, ClusterSources
from collectors.sources.source_port import Source, query_each_step


@dataclass
class QuietSource:
    """A source that is healthy, and whose every result is empty."""

    name: ClassVar[str] = "prometheus"
    query_types: ClassVar[frozenset[type[Query]]] = frozenset({PromQLQuery})

    async def query(self, query: Any, *, at: datetime) -> QueryResult:
        return Seen(source=self.name, at=at, samples=())

    async def range(
        self, query: Any, *, start: datetime, end: datetime, step: timedelta
    ) -> tuple[Series, ...]:
        return await query_each_step(self, query, start=start, end=end, step=step)

    async def health(self, *, at: datetime) -> Blind | None:
        return None

    async def hole(self, *, at: datetime) -> Blind | None:
        return await self.health(at=at)

    async def close(self) -> None:
        return None


def no_cluster(at: datetime, sources: tuple[SourceState, ...]) -> CheckInput:
    gone = Blind(source="kubernetes", at=at, reason="there is none")
    return CheckInput(at=at, inventory=gone, trainings=gone, configs=gone, sources=sources)


def a_router(
    *sources: Source,
    checks: Mapping[str, ClusterCheck] | None = None,
    check_input: Callable[[datetime, tuple[SourceState, ...]], CheckInput] = no_cluster,
    has_cluster: bool = True,
    deadline: timedelta = DEADLINE,
    at_once: int = CONCURRENCY,
    errors: InternalErrors | None = None,
) -> QueryRouter:
    return QueryRouter(
        ClusterSources(sources, deadline=deadline, errors=errors),
        CheckRunner(checks or {}, check_input, has_cluster=has_cluster, errors=errors),
        at_once=at_once,
    )
