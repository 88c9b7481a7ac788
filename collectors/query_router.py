"""Routing of queries to their sources, with a deadline, a concurrency limit and the health of each source."""

import asyncio
from collections.abc import Awaitable, Callable, Container, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Protocol, TypeVar

from collectors.checks.check import CheckInput, ClusterCheck, SourceState
from collectors.facts.queries import CheckQuery, LogQuery, PromQLQuery, Query
from collectors.facts.results import Blind, QueryResult, Seen
from collectors.internal_errors import InternalErrors

T = TypeVar("T")

DEADLINE = timedelta(seconds=12)
CONCURRENCY = 8
BLIND_SHARE = 0.5  # of the recent queries to a source; above it, the source is blind, not the rule
RECENT = timedelta(minutes=5)
RECOVERY = timedelta(minutes=3)  # a source that is back is trusted then, even if its data always comes late


class MetricsSource(Protocol):
    async def query(self, query: PromQLQuery, *, at: datetime) -> QueryResult: ...

    async def health(self, *, at: datetime) -> Blind | None: ...

    async def hole(self, *, at: datetime) -> Blind | None:
        """Return Blind when nothing was recorded around that moment."""
        ...


class LogSource(Protocol):
    async def search(self, query: LogQuery, *, at: datetime) -> QueryResult: ...

    async def health(self, *, at: datetime) -> Blind | None: ...


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


class QueryRouter:
    """Routes the queries of one cluster. A source that is not in the settings is Blind, and not in `sources()`."""

    def __init__(
        self,
        *,
        metrics: MetricsSource | None,
        logs: LogSource | None,
        checks: Mapping[str, ClusterCheck],
        check_input: Callable[[datetime, tuple[SourceState, ...]], CheckInput],
        has_cluster: bool = True,
        deadline: timedelta = DEADLINE,
        at_once: int = CONCURRENCY,
        errors: InternalErrors | None = None,
    ) -> None:
        self._metrics = metrics
        self._logs = logs
        self._checks = checks
        self._check_input = check_input
        self._deadline = deadline
        self._slots = asyncio.Semaphore(at_once)
        self._errors = errors or InternalErrors()
        self._past: dict[datetime, dict[str, Blind]] = {}  # in this cycle: moment -> what is blind as of then
        self._health: dict[str, _Health] = {}
        if metrics is not None:
            self._health["prometheus"] = _Health()
        if logs is not None:
            self._health["elasticsearch"] = _Health()
        if has_cluster:
            self._health["kubernetes"] = _Health()

    async def query_all(self, queries: Mapping[str, Query], *, at: datetime) -> dict[str, QueryResult]:
        """Return the results by rule id. The health of each source is checked first; a blind source gets no query.

        Checks run last, since some of them read the state of the sources.
        """
        self._past.clear()
        unhealthy = await self._unhealthy(at)
        unhealthy |= await self._not_back(at, unhealthy)
        first = {id: query for id, query in queries.items() if not isinstance(query, CheckQuery)}
        answers = dict(
            zip(
                first,
                await asyncio.gather(*(self._query(query, unhealthy, at) for query in first.values())),
                strict=True,
            )
        )
        self._record(first, answers, unhealthy, at)
        for id, query in queries.items():
            if isinstance(query, CheckQuery):
                await asyncio.sleep(0)  # others may run between the checks of a large cluster
                answers[id] = answer = self._check(query, at)
                broken = answer if isinstance(answer, Blind) and answer.source.startswith("check ") else None
                self.record_unusable(id, query, broken.reason if broken else "")
        return answers

    async def query(self, query: Query, *, at: datetime) -> QueryResult:
        """Return the result of one query as of the past moment `at`, for a backfill."""
        if at not in self._past:
            self._past[at] = {**await self._unhealthy(at), **await self._unrecorded(at)}
        unhealthy = self._past[at]
        if isinstance(query, CheckQuery):
            return self._check(query, at)
        return await self._query(query, unhealthy, at)

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
        health = self._health.get(source_of(query))
        if health is not None and reason:
            health.unusable[id] = reason
        elif health is not None:
            health.unusable.pop(id, None)

    def restate(self, by: timedelta) -> None:
        """Move every moment in memory by so much, since the clock was set."""
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
                for record in (health.queried, health.blind, health.unusable):
                    record.pop(id, None)

    async def _unhealthy(self, at: datetime) -> dict[str, Blind]:
        """Return the sources that are not to be queried, because their results cannot be trusted now."""
        sources: dict[str, MetricsSource | LogSource | None] = {
            "prometheus": self._metrics,
            "elasticsearch": self._logs,
        }
        configured = {name: source for name, source in sources.items() if source is not None}
        found = await asyncio.gather(
            *(self._check_health(name, source, at) for name, source in configured.items())
        )
        unhealthy = {name: blind for name, blind in zip(configured, found, strict=True) if blind is not None}
        inputs = self._inputs(at, ())
        if isinstance(inputs, Blind):
            unhealthy["kubernetes"] = inputs
        elif isinstance(inputs.inventory, Blind):
            unhealthy["kubernetes"] = inputs.inventory
        return unhealthy

    async def _unrecorded(self, at: datetime) -> dict[str, Blind]:
        """Return the sources that have a hole in their data at that moment."""
        if self._metrics is None:
            return {}
        hole = await self._within_deadline("prometheus", at, self._metrics.hole(at=at))
        return {} if hole is None else {"prometheus": hole}

    async def _not_back(self, at: datetime, unhealthy: Container[str]) -> dict[str, Blind]:
        """Return the sources that answer again, but from a hole: nothing may resolve yet."""
        health = self._health.get("prometheus")
        if health is None or not health.may_have_hole:
            return {}
        if "prometheus" in unhealthy:
            health.back_since = None  # down again: it has the whole time to recover once it is back
            return {}
        found = await self._unrecorded(at)
        health.back_since = health.back_since or at
        if found and abs(at - health.back_since) <= RECOVERY:  # the clock may be set back
            return found
        health.may_have_hole, health.back_since = False, None
        return {}

    async def _check_health(self, name: str, source: MetricsSource | LogSource, at: datetime) -> Blind | None:
        return await self._within_deadline(name, at, source.health(at=at))

    async def _query(
        self, query: PromQLQuery | LogQuery, unhealthy: Mapping[str, Blind], at: datetime
    ) -> QueryResult:
        name = source_of(query)
        if name in unhealthy:
            return unhealthy[name]
        async with self._slots:
            if isinstance(query, PromQLQuery):
                if self._metrics is not None:
                    return await self._within_deadline(name, at, self._metrics.query(query, at=at))
            elif self._logs is not None:
                return await self._within_deadline(name, at, self._logs.search(query, at=at))
        return Blind(source=name, at=at, reason=f"the settings have no {name} for this cluster")

    async def _within_deadline(self, name: str, at: datetime, answer: Awaitable[T]) -> T | Blind:
        """Await a source's answer. Whatever goes wrong in the source is Blind here, so that no answer ends a cycle."""
        try:
            async with asyncio.timeout(self._deadline.total_seconds()):
                return await answer
        except TimeoutError:
            seconds = self._deadline.total_seconds()
            return Blind(source=name, at=at, reason=f"{name} did not answer within {seconds:.0f} s")
        except Exception as error:
            return Blind(source=name, at=at, reason=self._errors.contain(error, name))

    def _inputs(self, at: datetime, sources: tuple[SourceState, ...]) -> CheckInput | Blind:
        try:
            return self._check_input(at, sources)
        except Exception as error:
            return Blind(source="kubernetes", at=at, reason=self._errors.contain(error, "kubernetes"))

    def _check(self, query: CheckQuery, at: datetime) -> QueryResult:
        check = self._checks.get(query.name)
        if check is None:
            return Blind(source="check", at=at, reason=f"there is no check `{query.name}`")
        inputs = self._inputs(at, self.sources(at=at))
        if isinstance(inputs, Blind):
            return inputs
        for need in sorted(check.needs):
            value: Any = getattr(inputs, need)
            if isinstance(value, Blind):
                return value
        if not isinstance(inputs.inventory, Blind):
            for kind in sorted(check.kinds & inputs.inventory.missing.keys()):
                reason = f"{kind} cannot be seen: {inputs.inventory.missing[kind]}"
                return Blind(source="kubernetes", at=at, reason=reason)
        try:
            samples = tuple(check.run(inputs, {**check.parameters, **query.parameters}))
        except Exception as error:
            reason = self._errors.contain(error, "check", check=check.name)
            return Blind(source=f"check {check.name}", at=at, reason=reason)
        return Seen(source=f"check {check.name}", at=at, samples=samples)

    def _record(
        self,
        queries: Mapping[str, PromQLQuery | LogQuery],
        answers: Mapping[str, QueryResult],
        unhealthy: Mapping[str, Blind],
        at: datetime,
    ) -> None:
        """Record what is blind, and since when: the rules when few of them are blind, the source when many are."""
        for name, health in self._health.items():
            here = [id for id, query in queries.items() if source_of(query) == name]
            blind = {id: answer.reason for id in here if isinstance(answer := answers[id], Blind)}
            if name in unhealthy:
                self._blind(health, unhealthy[name].reason, at)
                continue
            health.queried |= dict.fromkeys(here, at)
            health.blind = {**{id: reason for id, reason in health.blind.items() if id not in here}, **blind}
            recent = [id for id, queried_at in health.queried.items() if at - queried_at <= RECENT]
            if blind and sum(id in health.blind for id in recent) > BLIND_SHARE * len(recent):
                self._blind(health, next(iter(blind.values())), at)
            elif here or name == "kubernetes":
                if health.blind_since is not None:
                    health.blind = blind  # the other rules were blind because of the source
                health.blind_since, health.reason = None, ""

    @staticmethod
    def _blind(health: _Health, reason: str, at: datetime) -> None:
        health.blind_since = health.blind_since or at
        health.may_have_hole = True
        health.reason = reason


def source_of(query: Query) -> str:
    """Return the source that answers a query. A check reads the cluster cache."""
    match query:
        case PromQLQuery():
            return "prometheus"
        case LogQuery():
            return "elasticsearch"
        case CheckQuery():
            return "kubernetes"
