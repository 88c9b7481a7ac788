"""The sources of one cluster: which one answers a query, within a deadline, with whatever goes wrong contained."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from typing import TypeVar

from collectors.facts.findings import Finding, RuleHealth, blinding, broken, ok
from collectors.facts.missing_metrics import MissingMetrics
from collectors.facts.queries import CheckQuery, PromQLQuery, Query
from collectors.facts.results import Blind, QueryResult, SourceError
from collectors.facts.sentences import sentence
from collectors.facts.topology import Topology
from collectors.internal_errors import InternalErrors
from collectors.sources.source_port import (
    Diagnosable,
    LogReader,
    MetricsDiagnosable,
    Source,
    TopologyFollower,
)

T = TypeVar("T")

DEADLINE = timedelta(seconds=12)
DIAGNOSIS_DEADLINE = timedelta(seconds=60)  # of one source: it is asked several times


class ClusterSources:
    """The one place where all queries to servers pass: those of rules and those of commands.

    Raises SourceError when two sources answer the same type of query.
    """

    def __init__(
        self,
        sources: Sequence[Source] = (),
        *,
        deadline: timedelta = DEADLINE,
        errors: InternalErrors | None = None,
    ) -> None:
        self._sources = tuple(sources)
        self._deadline = deadline
        self._errors = errors or InternalErrors()
        self._by_type: dict[type[Query], Source] = {}
        for source in sources:
            for answered in source.query_types:
                other = self._by_type.setdefault(answered, source)
                if other is not source:
                    raise SourceError(
                        sentence(
                            "{other} and {source} are both a source of {asks_for}: keep one of them",
                            other=other.name,
                            source=source.name,
                            asks_for=answered.asks_for,
                        ),
                        temporary=False,
                    )

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(source.name for source in self._sources)

    @property
    def logs(self) -> LogReader | None:
        """The source that has log lines for people."""
        return next((one for one in self._sources if isinstance(one, LogReader)), None)

    def answering(self, query_type: type[Query]) -> Source | None:
        """Return the source of a type of query; None when the settings have none."""
        return self._by_type.get(query_type)

    def name_for(self, query: Query) -> str:
        """Return the name of the query's source, or of what the settings have no source of."""
        source = self._by_type.get(type(query))
        return query.asks_for if source is None else source.name

    def follow(self, topology: Callable[[], Topology]) -> None:
        """Give the cluster's topology to the sources that compare with it."""
        for source in self._sources:
            if isinstance(source, TopologyFollower):
                source.follow(topology)

    async def query(self, query: Query, *, at: datetime) -> QueryResult:
        """Return the query's result. Without a source for it, it is Blind."""
        source = self._by_type.get(type(query))
        if source is None:
            reason = sentence(
                "the settings have no source of {asks_for} for this cluster", asks_for=query.asks_for
            )
            return Blind(source=query.asks_for, at=at, reason=reason)
        return await self._contained(source, at, lambda: source.query(query, at=at))

    async def health(self, *, at: datetime) -> dict[str, Blind]:
        """Return the sources whose results cannot be trusted now, by name."""
        return await self._blind(at, self._sources, lambda source: source.health(at=at))

    async def holes(self, *, at: datetime, among: Sequence[str]) -> dict[str, Blind]:
        """Return those sources that recorded nothing around that moment, by name."""
        some = [source for source in self._sources if source.name in among]
        return await self._blind(at, some, lambda source: source.hole(at=at))

    async def diagnose(
        self, queries: Mapping[str, Query], *, at: datetime, within: timedelta = DIAGNOSIS_DEADLINE
    ) -> dict[str, Sequence[Finding]]:
        """Return what each source finds, by its name. `queries` are those of rules, by the rule's name."""
        found = await asyncio.gather(
            *(self._diagnosis(source, queries, at, within) for source in self._sources)
        )
        unanswered: dict[str, list[str]] = {}
        for rule, query in queries.items():
            if type(query) not in self._by_type and not isinstance(query, CheckQuery):
                unanswered.setdefault(query.asks_for, []).append(rule)
        lacking = {what: [_not_connected(what, rules)] for what, rules in unanswered.items()}
        return {**dict(zip(self.names, found, strict=True)), **lacking}

    async def missing(
        self, queries: Mapping[str, Query], *, at: datetime
    ) -> Sequence[MissingMetrics] | Blind:
        """Return which metrics the queries of rules need that have no series now, by the exporter."""
        source = self._by_type.get(PromQLQuery)
        if not isinstance(source, MetricsDiagnosable):
            return ()
        own = {name: query for name, query in queries.items() if isinstance(query, PromQLQuery)}
        return await self._contained(source, at, lambda: source.missing(own, at=at))

    async def _diagnosis(
        self, source: Source, queries: Mapping[str, Query], at: datetime, within: timedelta
    ) -> Sequence[Finding]:
        own = {name: query for name, query in queries.items() if type(query) in source.query_types}
        seconds = within.total_seconds()
        try:
            async with asyncio.timeout(seconds):
                if isinstance(source, Diagnosable):
                    return await source.diagnose(own, at=at)
                blind = await source.health(at=at)
                if blind is None:
                    return [ok(sentence("it answers"))]
                fix = sentence("check the server and its address in the settings")
                return [blinding(broken(blind.reason, fix), own, blind.reason)]
        except TimeoutError:
            reason = sentence(
                "{source} did not answer within {seconds:.0f} s", source=source.name, seconds=seconds
            )
            return [blinding(broken(reason, sentence("check that it is up")), own, reason)]

    async def _blind(
        self,
        at: datetime,
        sources: Sequence[Source],
        ask: Callable[[Source], Awaitable[Blind | None]],
    ) -> dict[str, Blind]:
        found = await asyncio.gather(
            *(self._contained(source, at, partial(ask, source)) for source in sources)
        )
        return {source.name: blind for source, blind in zip(sources, found, strict=True) if blind is not None}

    async def _contained(self, source: Source, at: datetime, ask: Callable[[], Awaitable[T]]) -> T | Blind:
        """Ask a source. Whatever goes wrong in the source is Blind here, so that no answer ends a cycle."""
        name, seconds = source.name, self._deadline.total_seconds()
        limit = asyncio.timeout(seconds)
        try:
            async with limit:
                return await ask()
        except Exception as error:
            if limit.expired():
                return Blind(
                    source=name,
                    at=at,
                    reason=sentence(
                        "{name} did not answer within {seconds:.0f} s", name=name, seconds=seconds
                    ),
                )
            return Blind(source=name, at=at, reason=self._errors.contain(error, name))


def _not_connected(what: str, rules: Sequence[str]) -> Finding:
    """Return that rules wait for a source that the settings may leave out."""
    cause = sentence("the settings have no source of {what} for this cluster", what=what)
    return replace(ok(cause), rules=tuple(sorted(rules)), health=RuleHealth.WAITING, cause=cause)
