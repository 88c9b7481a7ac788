"""The rule loop: which rules are due, their evaluation, the backfill of missed ones, and the alerts that change."""

import asyncio
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from alerts.alert import Alert
from alerts.engine import AlertChange, AlertRenderer, RuleEvaluation, evaluate
from alerts.lifecycle import AlertState
from alerts.rules import Rule
from bot.evaluation.rule_state import RuleState, missed_since, next_moment
from collectors.facts.labels import Labels
from collectors.facts.queries import CheckQuery, Query
from collectors.facts.results import Blind, QueryResult, Seen
from collectors.internal_errors import InternalErrors
from collectors.query_router import CONCURRENCY, QueryRouter

BACKFILL_FOR = 10.0  # seconds per cycle; the rest is backfilled in the next one
TRIES = 3


@dataclass(slots=True)
class _Backfill:
    """The limits of the backfill in one cycle: it must not delay the next cycle."""

    until: float = field(default_factory=lambda: time.monotonic() + BACKFILL_FOR)
    failing: dict[str, str] = field(default_factory=dict)  # source -> the error of its last query

    def stopped(self, source: str) -> str:
        """Return why the source is not queried again in this cycle; empty if it may be."""
        if reason := self.failing.get(source):
            return reason
        return "still backfilling missed evaluations" if time.monotonic() > self.until else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationCycle:
    """The result of one evaluation cycle."""

    at: datetime
    changes: tuple[AlertChange, ...] = ()
    standing: tuple[Alert, ...] = ()  # every current alert of the rules that were due
    evaluated: frozenset[str] = frozenset()  # ids of the rules whose query was answered
    blind: Mapping[str, str] = field(default_factory=dict)  # rule id -> reason
    progress: Mapping[str, datetime] = field(default_factory=dict)  # rule id -> its last evaluation


class RuleScheduler:
    """The live state of one cluster's rules. At start it is restored from the store."""

    def __init__(
        self,
        cluster: str,
        rules: Sequence[Rule],
        router: QueryRouter,
        renderer: AlertRenderer,
        *,
        errors: InternalErrors | None = None,
    ) -> None:
        self._cluster = cluster
        self._router = router
        self._renderer = renderer
        self._errors = errors or InternalErrors()
        self._states: dict[str, RuleState] = {}
        self.rules: dict[str, Rule] = {}
        self.proven: frozenset[str] = frozenset()  # ids of alerts whose fault was proven over
        router.rule_queries = lambda: {rule.name: rule.query for rule in self.rules.values()}
        router.standing = self._standing
        router.instead = self._instead
        self.swap(rules)

    def swap(self, rules: Sequence[Rule]) -> tuple[Alert, ...]:
        """Replace the rules, between cycles. Return the alerts of removed rules, which the caller must resolve."""
        self.rules = {rule.id: rule for rule in rules}
        gone = {id: state for id, state in self._states.items() if id not in self.rules}
        self._states = {id: self._states.get(id, RuleState()) for id in self.rules}
        self._router.forget(gone)
        return tuple(alert for state in gone.values() for alert in state.alerts.values())

    def _standing(self, id: str) -> dict[Labels, bool]:
        """Return the labels that the query gave to a rule's current alerts, and whether they fire."""
        state = self._states.get(id)
        return {alert.labels: alert.is_firing for alert in state.alerts.values()} if state is not None else {}

    def reset(self) -> None:
        """Forget the state of every rule, before it is restored from the store."""
        self._states = {id: RuleState() for id in self.rules}

    def restore(
        self, alerts: Sequence[Alert], evaluated: Mapping[str, datetime], now: datetime
    ) -> tuple[Alert, ...]:
        """Restore the alerts of an earlier process, and what was missed since it last evaluated each rule.

        Return the alerts whose rule is gone.
        """
        for id, state in self._states.items():
            if state.evaluated is None and id in evaluated:
                state.evaluated = evaluated[id]
                state.missed = missed_since(self.rules[id], evaluated[id], now)
        if any(state.missed for state in self._states.values()):
            self._router.distrust()
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
        """When each rule was last evaluated; later evaluations are missed."""
        return {id: state.evaluated for id, state in self._states.items() if state.evaluated is not None}

    def next_due(self, now: datetime) -> datetime:
        return min((state.due or now for state in self._states.values()), default=now + timedelta(seconds=15))

    def counts(self) -> Mapping[str, int]:
        """Return how many alerts are pending and how many are firing."""
        found = Counter(alert.life.state for one in self._states.values() for alert in one.alerts.values())
        return {state.value: found[state] for state in (AlertState.PENDING, AlertState.FIRING)}

    def bring_checks_forward(self, now: datetime) -> None:
        """Make the rules over cluster checks due now: the cluster has changed."""
        for id, rule in self.rules.items():
            if isinstance(rule.query, CheckQuery):
                self._states[id].due = now

    def restate(self, by: timedelta) -> None:
        """Move every moment in memory by so much, since the clock was set."""
        for state in self._states.values():
            state.restate(by)

    async def run_cycle(self, now: datetime) -> EvaluationCycle:
        """Query and evaluate the rules that are due at `now`."""
        due = {id: rule for id, rule in self.rules.items() if (self._states[id].due or now) <= now}
        for id, rule in due.items():
            self._states[id].due = next_moment(self._states[id].due or now, rule.interval, now)
        answers = await self._router.query_all(
            {id: self._states[id].query_of(rule) for id, rule in due.items()}, at=now
        )
        changes: list[AlertChange] = []
        blind: dict[str, str] = {}
        backfill = _Backfill()
        for id, rule in due.items():
            await asyncio.sleep(0)  # others may run between the rules of a large cluster
            evaluation = await self._conclude(rule, answers[id], now, backfill)
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
        self, rule: Rule, answer: QueryResult, now: datetime, backfill: "_Backfill"
    ) -> RuleEvaluation:
        state = self._states[rule.id]
        if isinstance(answer, Blind):
            if not isinstance(rule.query, CheckQuery):
                state.miss(now)
            return RuleEvaluation(alerts=state.alerts, blind=answer.reason)
        changes, reason = await self._backfill(rule, state, backfill)
        if reason:
            state.miss(now)
            return RuleEvaluation(alerts=state.alerts, changes=tuple(changes), blind=reason)
        state.is_proven = True
        evaluation = self._evaluate(rule, answer, now)
        self._router.record_unusable(rule.id, rule.query, evaluation.blind or evaluation.left_out)
        return replace(evaluation, changes=(*changes, *evaluation.changes))

    async def _backfill(
        self, rule: Rule, state: RuleState, backfill: "_Backfill"
    ) -> tuple[list[AlertChange], str]:
        """Evaluate what was missed, in order. Return the changes, and the error if the rest must wait for a cycle.

        Times that can never be answered are skipped, and so are times that still fail after TRIES cycles.
        """
        changes: list[AlertChange] = []
        source = self._router.source_of(rule.query)
        while state.missed:
            if reason := backfill.stopped(source):
                return changes, reason
            some = state.missed[:CONCURRENCY]
            answers = await asyncio.gather(*(self._router.query(rule.query, at=at) for at in some))
            is_last_try = state.tries >= TRIES
            # A rate decays before it is known that there is a hole: also what is right before it is not certain.
            unseen = (
                at
                for at, late in zip(some, answers, strict=True)
                if isinstance(late, Blind) and (late.is_lasting or is_last_try)
            )
            state.hole = max(unseen, default=state.hole)
            for moment, late in zip(some, answers, strict=True):
                if isinstance(late, Blind) and not late.is_lasting and not is_last_try:
                    state.tries += 1
                    backfill.failing[source] = late.reason
                    return changes, late.reason
                changes += self._evaluate(rule, late, moment).changes
                state.missed = state.missed[1:]
        state.tries = 0
        return changes, ""

    def _instead(self, id: str, query: Query, found: QueryResult) -> Query | None:
        """Return the rule's whole query if its result, without presence, lost an alert: it ended, or is not seen."""
        rule, state = self.rules[id], self._states[id]
        if isinstance(found, Blind):
            return None
        state.has_lost = bool(state.alerts) and self._is_lost(rule, state, found)
        return rule.query if state.has_lost and query != rule.query else None

    def _is_lost(self, rule: Rule, state: RuleState, found: Seen) -> bool:
        """Whether one of the rule's alerts is not in the result."""
        lost = set(state.alerts)
        try:
            for sample in found.samples:
                lost.discard(self._renderer.labels(rule, sample).key)
                if not lost:
                    return False
        except Exception:  # the evaluation meets it again, and says so
            return True
        return True

    def _evaluate(self, rule: Rule, answer: QueryResult, now: datetime) -> RuleEvaluation:
        state = self._states[rule.id]
        try:
            result = evaluate(
                rule,
                state.alerts,
                answer,
                cluster=self._cluster,
                renderer=self._renderer,
                now=now,
                proven=self.proven,
                is_certain=state.is_certain(rule.query, now),
            )
        except Exception as error:  # one rule's bug must not silence the others
            reason = self._errors.contain(error, "rule", rule=rule.id)
            return RuleEvaluation(alerts=state.alerts, blind=reason)
        state.alerts, state.evaluated = result.alerts, now
        return result
