"""This file answers questions: each goes to its source, with a deadline, a limit on how many at once, and a memory
of which source was blind since when."""

import asyncio
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Protocol

from collectors.checks.check import CheckInput, ClusterCheck, SourceState
from collectors.facts.queries import CheckQuery, LogQuery, PromQLQuery, Query
from collectors.facts.results import Blind, QueryResult, Seen

DEADLINE = timedelta(seconds=12)
AT_ONCE = 8
BLIND_SHARE = 0.5  # of what a source was asked lately: from there on it is the source, not the rule
LATELY = timedelta(minutes=5)


class MetricsSource(Protocol):
    async def query(self, query: PromQLQuery, *, at: datetime) -> QueryResult: ...

    async def health(self, *, at: datetime) -> Blind | None: ...


class LogSource(Protocol):
    async def search(self, query: LogQuery, *, at: datetime) -> QueryResult: ...

    async def health(self, *, at: datetime) -> Blind | None: ...


@dataclass(slots=True, kw_only=True)
class _Health:
    """What is remembered of one source: since when it is blind, and how it answered each rule, by the rule's id."""

    blind_since: datetime | None = None
    reason: str = ""
    queried: dict[str, datetime] = field(default_factory=dict)  # when last, and not while it was asleep
    blind: dict[str, str] = field(default_factory=dict)  # those that it could not answer then, and why
    unusable: dict[str, str] = field(default_factory=dict)  # those whose answer could not be used, and why


class QueryRouter:
    """Answers one cluster's questions. A source that the settings leave out is Blind, and not in `sources()`."""

    def __init__(
        self,
        *,
        metrics: MetricsSource | None,
        logs: LogSource | None,
        checks: Mapping[str, ClusterCheck],
        check_input: Callable[[datetime, tuple[SourceState, ...]], CheckInput],
        has_cluster: bool = True,
        deadline: timedelta = DEADLINE,
        at_once: int = AT_ONCE,
    ) -> None:
        self._metrics = metrics
        self._logs = logs
        self._checks = checks
        self._check_input = check_input
        self._deadline = deadline
        self._slots = asyncio.Semaphore(at_once)
        self._health: dict[str, _Health] = {}
        if metrics is not None:
            self._health["prometheus"] = _Health()
        if logs is not None:
            self._health["elasticsearch"] = _Health()
        if has_cluster:
            self._health["kubernetes"] = _Health()

    async def query_all(self, queries: Mapping[str, Query], *, at: datetime) -> dict[str, QueryResult]:
        """Answer these, by rule id. Whether each source is awake is asked first; a blind one is not asked more.

        Checks are answered last, since some of them look at how the others went.
        """
        unhealthy = await self._unhealthy(at)
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
                answers[id] = self._check(query, at)
        return answers

    async def query(self, query: Query, *, at: datetime) -> QueryResult:
        """Answer one question as of `at`, outside of a cycle: what was missed, or what somebody wants to know."""
        unhealthy = await self._unhealthy(at)
        if isinstance(query, CheckQuery):
            return self._check(query, at)
        return await self._query(query, unhealthy, at)

    def sources(self, *, at: datetime) -> tuple[SourceState, ...]:
        """How each source is."""
        return tuple(
            SourceState(
                source=name,
                blind_for=None if health.blind_since is None else at - health.blind_since,
                reason=health.reason,
                rules={**health.unusable, **health.blind},
            )
            for name, health in self._health.items()
        )

    def record_unusable(self, id: str, query: Query, useless: str) -> None:
        """Whether what a rule was answered could be used: why not, or nothing when it could."""
        health = self._health.get(source_of(query))
        if health is not None and useless:
            health.unusable[id] = useless
        elif health is not None:
            health.unusable.pop(id, None)

    def forget(self, ids: Iterable[str]) -> None:
        """Rules that are gone: nobody asks them any more, so they are not blind either."""
        for health in self._health.values():
            for id in ids:
                for kept in (health.queried, health.blind, health.unusable):
                    kept.pop(id, None)

    async def _unhealthy(self, at: datetime) -> dict[str, Blind]:
        """The sources that need not be asked, for nothing that they say now may be believed."""
        sources: dict[str, MetricsSource | LogSource | None] = {
            "prometheus": self._metrics,
            "elasticsearch": self._logs,
        }
        there = {name: source for name, source in sources.items() if source is not None}
        found = await asyncio.gather(
            *(self._check_health(name, source, at) for name, source in there.items())
        )
        unhealthy = {name: blind for name, blind in zip(there, found, strict=True) if blind is not None}
        inventory = self._check_input(at, ()).inventory
        if isinstance(inventory, Blind):
            unhealthy["kubernetes"] = inventory
        return unhealthy

    async def _check_health(self, name: str, source: MetricsSource | LogSource, at: datetime) -> Blind | None:
        try:
            async with asyncio.timeout(self._deadline.total_seconds()):
                return await source.health(at=at)
        except TimeoutError:
            return self._timed_out(name, at)

    async def _query(
        self, query: PromQLQuery | LogQuery, unhealthy: Mapping[str, Blind], at: datetime
    ) -> QueryResult:
        name = source_of(query)
        if name in unhealthy:
            return unhealthy[name]
        try:
            async with self._slots, asyncio.timeout(self._deadline.total_seconds()):
                if isinstance(query, PromQLQuery):
                    if self._metrics is not None:
                        return await self._metrics.query(query, at=at)
                elif self._logs is not None:
                    return await self._logs.search(query, at=at)
        except TimeoutError:
            return self._timed_out(name, at)
        return Blind(source=name, at=at, reason=f"the settings name no {name} for this cluster")

    def _timed_out(self, name: str, at: datetime) -> Blind:
        seconds = self._deadline.total_seconds()
        return Blind(source=name, at=at, reason=f"{name} did not answer within {seconds:.0f} s")

    def _check(self, query: CheckQuery, at: datetime) -> QueryResult:
        check = self._checks.get(query.name)
        if check is None:
            return Blind(source="check", at=at, reason=f"there is no check `{query.name}`")
        inputs = self._check_input(at, self.sources(at=at))
        for need in sorted(check.needs):
            value: Any = getattr(inputs, need)
            if isinstance(value, Blind):
                return value
        if not isinstance(inputs.inventory, Blind):
            for kind in sorted(check.kinds & inputs.inventory.missing.keys()):
                reason = f"{kind} cannot be seen: {inputs.inventory.missing[kind]}"
                return Blind(source="kubernetes", at=at, reason=reason)
        samples = check.run(inputs, {**check.parameters, **query.parameters})
        return Seen(source=f"check {check.name}", at=at, samples=tuple(samples))

    def _record(
        self,
        asked: Mapping[str, PromQLQuery | LogQuery],
        answers: Mapping[str, QueryResult],
        unhealthy: Mapping[str, Blind],
        at: datetime,
    ) -> None:
        """Who is blind, and since when. A few blind questions are their rules' trouble, many are the source's."""
        for name, health in self._health.items():
            here = [id for id, query in asked.items() if source_of(query) == name]
            blind = {id: answer.reason for id in here if isinstance(answer := answers[id], Blind)}
            if name in unhealthy:
                self._blind(health, unhealthy[name].reason, at)
                continue
            health.queried |= dict.fromkeys(here, at)
            health.blind = {**{id: reason for id, reason in health.blind.items() if id not in here}, **blind}
            lately = [id for id, asked_at in health.queried.items() if at - asked_at <= LATELY]
            if blind and sum(id in health.blind for id in lately) > BLIND_SHARE * len(lately):
                self._blind(health, next(iter(blind.values())), at)
            elif here or name == "kubernetes":
                if health.blind_since is not None:
                    health.blind = blind  # what the others were not answered was the source's trouble
                health.blind_since, health.reason = None, ""

    @staticmethod
    def _blind(health: _Health, reason: str, at: datetime) -> None:
        health.blind_since = health.blind_since or at
        health.reason = reason


def source_of(query: Query) -> str:
    """The source that answers it. A check looks at the cluster."""
    match query:
        case PromQLQuery():
            return "prometheus"
        case LogQuery():
            return "elasticsearch"
        case CheckQuery():
            return "kubernetes"
