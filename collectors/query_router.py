"""Routing of a cycle's queries: the health of each source first, and which rules each of them leaves blind."""

import asyncio
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from collectors.check import SourceState
from collectors.check_runner import KUBERNETES, CheckRunner
from collectors.facts.labels import Labels
from collectors.facts.missing_metrics import MissingMetrics
from collectors.facts.queries import CheckQuery, PromQLQuery, Query
from collectors.facts.results import Blind, QueryResult
from collectors.sources.cluster_sources import ClusterSources

CONCURRENCY = 8
BLIND_SHARE = 0.5  # of the recent queries to a source; above it, the source is blind, not the rule
RECENT = timedelta(minutes=5)
RECOVERY = timedelta(minutes=3)  # a source that is back is trusted then, even if its data always comes late


@dataclass(slots=True, kw_only=True)
class _Health:
    """The health of one source: since when it is blind, and which rules it did not answer, by rule id."""

    blind_since: datetime | None = None
    reason: str = ""
    may_have_hole: bool = False  # it was blind, or this process was down: what it recorded is checked first
    back_since: datetime | None = None  # since when it answers again, but with a hole
    queried: dict[str, datetime] = field(default_factory=dict)  # when last, while it was healthy
    blind: dict[str, str] = field(default_factory=dict)  # rules that it did not answer then, and why
    unusable: dict[str, str] = field(default_factory=dict)  # rules with an unusable result, and why


@dataclass(frozen=True, slots=True, kw_only=True)
class RulesInForce:
    """The rules in force, beside the queries of those that are due.

    `queries` are all of them, by the rule's name. `standing` returns the labels of a rule's alerts, by its id, and
    whether they fire. `instead` returns what to query instead at the same moment, where a result does not suffice.
    """

    queries: Mapping[str, Query] = field(default_factory=dict)
    standing: Callable[[str], Mapping[Labels, bool]] = lambda _id: {}
    instead: Callable[[str, Query, QueryResult], Query | None] = lambda _id, _query, _found: None


NO_RULES = RulesInForce()


class QueryRouter:
    """Routes the queries of one cluster: to its sources, and to its checks, which read the Kubernetes API."""

    def __init__(self, sources: ClusterSources, checks: CheckRunner, *, at_once: int = CONCURRENCY) -> None:
        self._sources = sources
        self._checks = checks
        self._slots = asyncio.Semaphore(at_once)
        self.took: dict[
            str, timedelta
        ] = {}  # rule id -> how long its last answer took, with its wait for a slot
        self._past: dict[datetime, dict[str, Blind]] = {}  # in this cycle: moment -> what is blind as of then
        self._missed: tuple[datetime, Sequence[MissingMetrics] | Blind] | None = None
        self._health = {name: _Health() for name in sources.names}
        if checks.has_cluster:
            self._health[KUBERNETES] = _Health()

    async def query_all(
        self, queries: Mapping[str, Query], *, at: datetime, rules: RulesInForce = NO_RULES
    ) -> dict[str, QueryResult]:
        """Return the results by rule id. The health of each source is checked first; a blind source gets no query.

        Checks run last, since some of them read the state of the sources.
        """
        self._past.clear()
        unhealthy = await self._unhealthy(at)
        unhealthy |= await self._not_back(at, unhealthy)
        first: dict[str, Query] = {
            id: query for id, query in queries.items() if not isinstance(query, CheckQuery)
        }
        answers = dict(
            zip(
                first,
                await asyncio.gather(
                    *(self._timed(id, query, unhealthy, at, rules) for id, query in first.items())
                ),
                strict=True,
            )
        )
        self._record(first, answers, unhealthy, at)
        for id, query in queries.items():
            if isinstance(query, CheckQuery):
                await asyncio.sleep(0)  # others may run between the checks of a large cluster
                answers[id] = answer = await self._check(query, unhealthy, at, rules, rules.standing(id))
                broken = answer if isinstance(answer, Blind) and answer.source.startswith("check ") else None
                self.record_unusable(id, query, broken.reason if broken else "")
        return answers

    async def _timed(
        self, id: str, query: Query, unhealthy: Mapping[str, Blind], at: datetime, rules: RulesInForce
    ) -> QueryResult:
        began = asyncio.get_running_loop().time()
        found = await self._query(query, unhealthy, at)
        if (instead := rules.instead(id, query, found)) is not None:
            found = await self._query(instead, unhealthy, at)
        self.took[id] = timedelta(seconds=asyncio.get_running_loop().time() - began)
        return found

    async def query(self, query: Query, *, at: datetime) -> QueryResult:
        """Return the result of one query as of the past moment `at`, for a backfill."""
        if at not in self._past:
            holes = await self._sources.holes(at=at, among=self._sources.names)
            self._past[at] = {**await self._unhealthy(at), **holes}
        if isinstance(query, CheckQuery):
            return await self._check(query, self._past[at], at)
        return await self._query(query, self._past[at], at)

    def source_of(self, query: Query) -> str:
        """Return the name of the source that answers a query. A check reads the Kubernetes API."""
        return KUBERNETES if isinstance(query, CheckQuery) else self._sources.name_for(query)

    def kinds_of(self, query: CheckQuery) -> frozenset[str]:
        """Return the kinds of objects that a check reads."""
        return self._checks.kinds_of(query)

    def sources(self, *, at: datetime) -> tuple[SourceState, ...]:
        """Return the state of each source."""
        return tuple(
            SourceState(
                source=name,
                blind_for=None if health.blind_since is None else at - health.blind_since,
                reason=health.reason,
                rules={**health.unusable, **health.blind},
            )
            for name, health in self._health.items()
        )

    def record_unusable(self, id: str, query: Query, reason: str) -> None:
        """Record why a rule's result could not be used; an empty reason when it could."""
        health = self._health.get(self.source_of(query))
        if health is not None and reason:
            health.unusable[id] = reason
        elif health is not None:
            health.unusable.pop(id, None)

    def restate(self, by: timedelta) -> None:
        """Move every moment in memory by a clock step of so much."""
        for health in self._health.values():
            health.blind_since = health.blind_since and health.blind_since + by
            health.back_since = health.back_since and health.back_since + by
            health.queried = {id: at + by for id, at in health.queried.items()}

    def distrust(self) -> None:
        """Check what each source has recorded before its next result is used: this process was down."""
        for health in self._health.values():
            health.may_have_hole, health.back_since = True, None

    def forget(self, ids: Iterable[str]) -> None:
        """Forget deleted rules: they are no longer queried, so they are not blind either."""
        for health in self._health.values():
            for id in ids:
                for record in (health.queried, health.blind, health.unusable, self.took):
                    record.pop(id, None)

    async def _unhealthy(self, at: datetime) -> dict[str, Blind]:
        """Return the sources that are not to be queried, because their results cannot be trusted now."""
        unhealthy = await self._sources.health(at=at)
        if blind := self._checks.health(at=at):
            unhealthy[KUBERNETES] = blind
        return unhealthy

    async def _not_back(self, at: datetime, unhealthy: Container[str]) -> dict[str, Blind]:
        """Return the sources that answer again, but from a hole: nothing may resolve yet."""
        suspect = {name: one for name in self._sources.names if (one := self._health[name]).may_have_hole}
        for name in [name for name in suspect if name in unhealthy]:
            suspect.pop(
                name
            ).back_since = None  # down again: it has the whole time to recover once it is back
        found = await self._sources.holes(at=at, among=tuple(suspect)) if suspect else {}
        not_back: dict[str, Blind] = {}
        for name, health in suspect.items():
            health.back_since = health.back_since or at
            if name in found and abs(at - health.back_since) <= RECOVERY:  # the clock may step back
                not_back[name] = found[name]
            else:
                health.may_have_hole, health.back_since = False, None
        return not_back

    async def _check(
        self,
        query: CheckQuery,
        unhealthy: Mapping[str, Blind],
        at: datetime,
        rules: RulesInForce = NO_RULES,
        standing: Mapping[Labels, bool] | None = None,
    ) -> QueryResult:
        results = [await self._query(one, unhealthy, at) for one in self._checks.queries_of(query)]
        return await self._checks.run(
            query,
            at=at,
            sources=self.sources(at=at),
            results=results,
            missing=await self._missing(unhealthy, at, rules) if self._checks.needs_missing(query) else (),
            standing=standing,
        )

    async def _missing(
        self, unhealthy: Mapping[str, Blind], at: datetime, rules: RulesInForce
    ) -> Sequence[MissingMetrics] | Blind:
        """Return which metrics the rules in force need, and have no series of; once for the checks of a cycle."""
        source = self._sources.answering(PromQLQuery)
        if source is not None and source.name in unhealthy:
            return unhealthy[source.name]
        if self._missed is None or self._missed[0] != at:
            async with self._slots:
                self._missed = (
                    at,
                    await self._sources.missing(self._checks.with_metrics(rules.queries), at=at),
                )
        return self._missed[1]

    async def _query(self, query: Query, unhealthy: Mapping[str, Blind], at: datetime) -> QueryResult:
        name = self.source_of(query)
        if name in unhealthy:
            return unhealthy[name]
        async with self._slots:
            return await self._sources.query(query, at=at)

    def _record(
        self,
        queries: Mapping[str, Query],
        answers: Mapping[str, QueryResult],
        unhealthy: Mapping[str, Blind],
        at: datetime,
    ) -> None:
        """Record what is blind, and since when: the rules when few of them are blind, the source when many are."""
        for name, health in self._health.items():
            here = [id for id, query in queries.items() if self.source_of(query) == name]
            blind = {id: answer.reason for id in here if isinstance(answer := answers[id], Blind)}
            if name in unhealthy:
                self._blind(health, unhealthy[name].reason, at)
                continue
            health.queried |= dict.fromkeys(here, at)
            health.blind = {**{id: reason for id, reason in health.blind.items() if id not in here}, **blind}
            recent = [id for id, queried_at in health.queried.items() if at - queried_at <= RECENT]
            if blind and sum(id in health.blind for id in recent) > BLIND_SHARE * len(recent):
                self._blind(health, next(iter(blind.values())), at)
            elif here or name == KUBERNETES:
                if health.blind_since is not None:
                    health.blind = blind  # the other rules were blind because of the source
                health.blind_since, health.reason = None, ""

    @staticmethod
    def _blind(health: _Health, reason: str, at: datetime) -> None:
        health.blind_since = health.blind_since or at
        health.may_have_hole = True
        health.reason = reason
