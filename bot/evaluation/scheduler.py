"""This file evaluates one cluster's rules: when each is due, what was missed while blind, what changed."""

import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from math import ceil

from alerts.alert import Alert
from alerts.engine import AlertChange, AlertRenderer, RuleEvaluation, evaluate
from alerts.lifecycle import AlertState
from alerts.rules import Rule
from collectors.facts.labels import AlertKey
from collectors.facts.queries import CheckQuery, PromQLQuery, Query
from collectors.facts.results import Blind, QueryResult
from collectors.query_router import AT_ONCE, QueryRouter, source_of

MAX_MISSED = 120  # evaluations that are made up for after blindness
BACKFILL_FOR = 10.0  # seconds of a round, at most; the rest is made up for in the next
TRIES = 3


@dataclass(slots=True)
class _RuleState:
    """What is known of one rule. `missed` are the moments at which it was due and could not be answered.
    `judged` is the last moment that was, or that was given up.

    `is_proven`: its whole question was answered once, so that a broken presence query is found at the start.
    """

    alerts: Mapping[AlertKey, Alert] = field(default_factory=dict)
    due: datetime | None = None
    missed: list[datetime] = field(default_factory=list)
    judged: datetime | None = None
    tries: int = 0  # rounds in which making up for them failed
    is_proven: bool = False


@dataclass(slots=True)
class _Backfill:
    """How far one round goes in making up for what was missed: it must not keep the next round waiting."""

    until: float = field(default_factory=lambda: time.monotonic() + BACKFILL_FOR)
    failing: dict[str, str] = field(default_factory=dict)  # source -> why it fails again

    def stopped(self, source: str) -> str:
        """Why no more is asked of that source in this round; nothing while it may be."""
        if reason := self.failing.get(source):
            return reason
        return "it catches up with what it missed" if time.monotonic() > self.until else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationCycle:
    """What one round of evaluation gave."""

    at: datetime
    changes: tuple[AlertChange, ...] = ()
    standing: tuple[Alert, ...] = ()  # every alert that stands now, of the rules that were due
    evaluated: frozenset[str] = frozenset()  # the ids of the rules that were answered
    blind: Mapping[str, str] = field(default_factory=dict)  # rule id -> why
    progress: Mapping[str, datetime] = field(default_factory=dict)  # rule id -> up to when it was judged


class RuleScheduler:
    """Holds the live state of one cluster's rules. It is rebuilt from the store at start."""

    def __init__(
        self, cluster: str, rules: Sequence[Rule], router: QueryRouter, renderer: AlertRenderer
    ) -> None:
        self._cluster = cluster
        self._router = router
        self._renderer = renderer
        self._states: dict[str, _RuleState] = {}
        self.rules: dict[str, Rule] = {}
        self.swap(rules)

    def swap(self, rules: Sequence[Rule]) -> tuple[Alert, ...]:
        """Take other rules, between rounds. Gives the alerts of rules that are gone: they are to be resolved."""
        self.rules = {rule.id: rule for rule in rules}
        gone = {id: state for id, state in self._states.items() if id not in self.rules}
        self._states = {id: self._states.get(id, _RuleState()) for id in self.rules}
        self._router.forget(gone)
        return tuple(alert for state in gone.values() for alert in state.alerts.values())

    def restore(
        self, alerts: Sequence[Alert], judged: Mapping[str, datetime], now: datetime
    ) -> tuple[Alert, ...]:
        """Take up the alerts of an earlier process, and what was missed since it judged each rule for the last time.

        Gives the alerts whose rule is not there any more.
        """
        for id, state in self._states.items():
            if state.judged is None and id in judged:
                state.judged = judged[id]
                state.missed = _missed(self.rules[id], judged[id], now)
        orphans: list[Alert] = []
        for alert in alerts:
            if alert.rule not in self._states:
                orphans.append(alert)
            elif alert.life.state is not AlertState.RESOLVED:
                state = self._states[alert.rule]
                state.alerts = {**state.alerts, alert.key: alert}
        return tuple(orphans)

    @property
    def progress(self) -> Mapping[str, datetime]:
        """How far each rule was judged; what comes after it is missed."""
        return {id: state.judged for id, state in self._states.items() if state.judged is not None}

    def next_due(self, now: datetime) -> datetime:
        return min((state.due or now for state in self._states.values()), default=now + timedelta(seconds=15))

    async def run_cycle(self, now: datetime) -> EvaluationCycle:
        """Ask what is due at `now`, and judge it."""
        due = {id: rule for id, rule in self.rules.items() if (self._states[id].due or now) <= now}
        for id, rule in due.items():
            self._states[id].due = _next(self._states[id].due or now, rule.interval, now)
        answers = await self._router.query_all({id: self._query_of(rule) for id, rule in due.items()}, at=now)
        changes: list[AlertChange] = []
        blind: dict[str, str] = {}
        catching = _Backfill()
        for id, rule in due.items():
            evaluation = await self._conclude(rule, answers[id], now, catching)
            changes += evaluation.changes
            if evaluation.blind:
                blind[id] = evaluation.blind
        standing = tuple(alert for id in due for alert in self._states[id].alerts.values())
        evaluated_now = frozenset(due) - frozenset(blind)
        return EvaluationCycle(
            at=now,
            changes=tuple(changes),
            standing=standing,
            evaluated=evaluated_now,
            blind=blind,
            progress=self.progress,
        )

    async def _conclude(
        self, rule: Rule, answer: QueryResult, now: datetime, catching: "_Backfill"
    ) -> RuleEvaluation:
        state = self._states[rule.id]
        if isinstance(answer, Blind):
            if not isinstance(rule.query, CheckQuery):
                state.missed = [*state.missed, now][-MAX_MISSED:]
            return RuleEvaluation(alerts=state.alerts, blind=answer.reason)
        changes, reason = await self._backfill(rule, state, catching)
        if reason:
            state.missed = [*state.missed, now][-MAX_MISSED:]
            return RuleEvaluation(alerts=state.alerts, changes=tuple(changes), blind=reason)
        state.is_proven = True
        judged = self._evaluate(rule, answer, now)
        self._router.record_unusable(rule.id, rule.query, judged.blind or judged.left_out)
        return replace(judged, changes=(*changes, *judged.changes))

    async def _backfill(
        self, rule: Rule, state: _RuleState, catching: "_Backfill"
    ) -> tuple[list[AlertChange], str]:
        """Judge what was missed, in its order: the changes, and why the rest has to wait for another round, if so.

        A moment that can never be answered is left out; so is, after some rounds, one that still cannot be.
        """
        changes: list[AlertChange] = []
        source = source_of(rule.query)
        while state.missed:
            if reason := catching.stopped(source):
                return changes, reason
            some = state.missed[:AT_ONCE]
            answers = await asyncio.gather(*(self._router.query(rule.query, at=at) for at in some))
            for moment, late in zip(some, answers, strict=True):
                if isinstance(late, Blind) and not late.is_lasting and state.tries < TRIES:
                    state.tries += 1
                    catching.failing[source] = late.reason
                    return changes, late.reason
                changes += self._evaluate(rule, late, moment).changes
                state.missed = state.missed[1:]
        state.tries = 0
        return changes, ""

    def _query_of(self, rule: Rule) -> Query:
        """The rule's question; the smaller one while it holds no alert and missed nothing that may give one."""
        state = self._states[rule.id]
        is_idle = state.is_proven and not state.alerts and not state.missed
        if isinstance(rule.query, PromQLQuery) and is_idle:
            return rule.query.without_presence()
        return rule.query

    def _evaluate(self, rule: Rule, answer: QueryResult, now: datetime) -> RuleEvaluation:
        state = self._states[rule.id]
        judged = evaluate(rule, state.alerts, answer, cluster=self._cluster, renderer=self._renderer, now=now)
        state.alerts, state.judged = judged.alerts, now
        return judged


def _missed(rule: Rule, judged: datetime, now: datetime) -> list[datetime]:
    """The moments since then at which the rule would have been due; of too many the newest."""
    if isinstance(rule.query, CheckQuery):
        return []
    count = ceil((now - judged) / rule.interval) - 1  # `now` itself is not missed yet
    return [judged + step * rule.interval for step in range(max(1, count - MAX_MISSED + 1), count + 1)]


def _next(due: datetime, interval: timedelta, now: datetime) -> datetime:
    """The next moment on the rule's own grid that is not past."""
    steps = (now - due) // interval + 1
    return due + steps * interval
