"""The outcome of a case of a log or check rule just before and just after the rule's time, and the expected outcome."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from alerts.alert import Alert
from alerts.rules import Rule
from collectors.check import CheckInput, SourceState
from collectors.check_catalogue import CHECKS
from collectors.facts.missing_metrics import MissingMetrics
from collectors.facts.queries import LogQuery, Query
from collectors.facts.results import Blind, QueryResult, Sample, Seen
from collectors.query_router import RulesInForce
from tests.alerts.packs.check_case import CheckCase
from tests.alerts.packs.evaluated import once
from tests.alerts.packs.expected import Fired
from tests.alerts.packs.log_case import LogCase
from tests.alerts.packs.shipped_logs import Logs
from tests.alerts.packs.timing import TIMING, CaseTiming
from tests.support.objects import NOW
from tests.support.routing import QuietSource, a_router

AlertSummaries = Mapping[tuple[tuple[str, str], ...], str]


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseOutcome:
    """The summaries of the alerts that fire, by their labels without `alertname`: once it has lasted, and before."""

    fires: AlertSummaries
    early: AlertSummaries = field(default_factory=dict)


def expected(case: CheckCase | LogCase) -> CaseOutcome:
    return CaseOutcome(fires=_expected(case.fired))


def outcome(rule: Rule, result: QueryResult) -> CaseOutcome:
    """Return what fires if the result stays the same for the time of the rule of this name."""
    holds = _timing(rule).holds
    pending = once(rule, {}, result, NOW)
    before = pending.alerts if not holds else once(rule, pending.alerts, result, _soon(holds)).alerts
    after = once(rule, before, result, NOW + holds).alerts
    early = before.values() if holds else ()
    return CaseOutcome(fires=_firing(after.values()), early=_firing(early))


async def check_outcome(rule: Rule, case: CheckCase) -> CaseOutcome:
    """Return what the check fires. A check that failed fires nothing either: that is not a quiet case."""
    result = await check_result(rule, case)
    assert isinstance(result, Seen), result
    return outcome(rule, result)


async def check_result(rule: Rule, case: CheckCase, *, at: datetime = NOW) -> QueryResult:
    """Return the query router's result for the case."""

    def inputs(at: datetime, _sources: tuple[SourceState, ...]) -> CheckInput:
        return replace(case.inputs, at=at)

    sources = Measured(case.inputs.metrics, case.inputs.missing), Searched(case.inputs.logs)
    router = a_router(*sources, checks=CHECKS, check_input=inputs)
    if not case.inputs.standing:
        return await router.query(rule.query, at=at)
    standing = RulesInForce(standing=lambda _id: case.inputs.standing)
    return (await router.query_all({rule.id: rule.query}, at=at, rules=standing))[rule.id]


@dataclass
class Measured(QuietSource):
    """A source whose result is that of the case's metrics."""

    metrics: Sequence[Sample] | Blind
    lacks: Sequence[MissingMetrics] | Blind = ()

    async def missing(
        self, queries: Mapping[str, Query], *, at: datetime
    ) -> Sequence[MissingMetrics] | Blind:
        return self.lacks

    async def query(self, query: Any, *, at: datetime) -> QueryResult:
        if isinstance(self.metrics, Blind):
            return self.metrics
        return Seen(source=self.name, at=at, samples=tuple(self.metrics))


@dataclass
class Searched(QuietSource):
    """A source whose results are those of the case's log searches, the shortest first."""

    name = "elasticsearch"
    query_types = frozenset({LogQuery})
    logs: Sequence[Sequence[Sample]] | Blind

    async def query(self, query: Any, *, at: datetime) -> QueryResult:
        if isinstance(self.logs, Blind):
            return self.logs
        searches = next(check.logs for check in CHECKS.values() if query in check.logs)
        number = sorted(searches, key=lambda one: one.over).index(query)
        return Seen(source=self.name, at=at, samples=tuple(self.logs[number]))


async def log_outcome(rule: Rule, logs: Logs) -> CaseOutcome:
    """Return what the rule fires on the lines that were shipped."""
    assert isinstance(rule.query, LogQuery)
    seen = await logs.source.query(rule.query, at=NOW)
    assert isinstance(seen, Seen), seen
    return outcome(rule, seen)


def _timing(rule: Rule) -> CaseTiming:
    return TIMING.get(rule.name, CaseTiming())


def _soon(holds: timedelta) -> datetime:
    return NOW + holds - timedelta(seconds=1)


def _firing(alerts: Sequence[Alert] | Any) -> AlertSummaries:
    return {
        tuple(sorted(alert.labels.without("alertname").items())): alert.annotations["summary"]
        for alert in alerts
        if alert.is_firing
    }


def _expected(fired: Sequence[Fired]) -> AlertSummaries:
    return {tuple(sorted(one.labels.items())): one.summary for one in fired}
