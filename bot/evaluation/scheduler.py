"""Scheduling of rules: which are due, their evaluation, the backfill of missed ones, and the alerts that change."""

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from alerts.alert import Alert
from alerts.alert_batch import AlertBatch, Update
from alerts.engine import AlertChange, AlertRenderer, RuleEvaluation, evaluate
from alerts.incidents.proofs import ProofFacts
from alerts.lifecycle import AlertState
from alerts.rules import Rule, RuleIndex
from bot.cooperative import run_steps
from bot.evaluation.backfill import BACKFILL_FOR, FIRST_FOR, OUT_OF_TIME, Backfill
from bot.evaluation.rule_state import RuleState, missed_since, next_moment
from collectors.facts.labels import Labels
from collectors.facts.queries import CheckQuery, Query
from collectors.facts.results import Blind, QueryResult, Seen
from collectors.internal_errors import InternalErrors
from collectors.query_router import QueryRouter, RulesInForce

LATE = timedelta(seconds=1)  # of a loop that is not loaded


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationCycle:
    """The result of one evaluation cycle."""

    at: datetime
    changes: tuple[AlertChange, ...] = ()
    standing: tuple[Alert, ...] = ()  # every current alert of the rules that were due
    evaluated: frozenset[str] = frozenset()  # ids of the rules whose query was answered
    blind: Mapping[str, str] = field(default_factory=dict)  # rule id -> reason
    progress: Mapping[str, datetime] = field(default_factory=dict)  # rule id -> its last evaluation

    def batch(self, facts: ProofFacts | None) -> AlertBatch:
        """Return what to record of the cycle. `facts`: what may prove now that faults are over."""
        return AlertBatch(
            at=self.at,
            updates=self.updates,
            standing=self.standing,
            complete=self.evaluated,
            facts=facts,
            progress=self.progress,
        )

    @property
    def updates(self) -> tuple[Update, ...]:
        return tuple((change.alert, change.at) for change in self.changes)


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
        self._failed: frozenset[str] = frozenset()  # kinds with an object that failed
        self._backfill_for = FIRST_FOR  # seconds, in the next cycle
        self.rules = RuleIndex()
        self._proven: frozenset[str] = frozenset()  # ids of alerts whose fault was proven over
        self.swap(rules)

    def swap(self, rules: Sequence[Rule]) -> tuple[Alert, ...]:
        """Replace the rules, between cycles. Return the alerts of removed rules, which the caller must resolve."""
        self.rules = RuleIndex({rule.id: rule for rule in rules})
        gone = {id: state for id, state in self._states.items() if id not in self.rules}
        self._states = {id: self._states.get(id, RuleState()) for id in self.rules}
        self._router.forget(gone)
        return tuple(alert for state in gone.values() for alert in state.alerts.values())

    def _in_force(self) -> RulesInForce:
        return RulesInForce(
            queries={rule.name: rule.query for rule in self.rules.values()},
            standing=self._standing,
            instead=self._instead,
        )

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

    def catch_up(self, now: datetime) -> None:
        """Have evaluated what became due while the last cycle took long; a check sees only what is so now."""
        for id, rule in self.rules.items():
            if not isinstance(rule.query, CheckQuery):
                self._states[id].catch_up(rule.interval, now)

    def bring_checks_forward(self, kinds: frozenset[str]) -> None:
        """Have the checks that read these kinds in the next cycle, beside their own times: one of them failed."""
        self._failed |= kinds

    def restate(self, by: timedelta) -> None:
        """Move every moment in memory by a clock step of so much."""
        for state in self._states.values():
            state.restate(by)

    async def run_cycle(self, now: datetime, *, proven: frozenset[str] = frozenset()) -> EvaluationCycle:
        """Query and evaluate the rules that are due, at the time on their grid that has just passed.

        `proven` are the ids of alerts whose fault was proven over.
        """
        self._proven = proven
        due, now = self._take_due(now)
        answers = await self._router.query_all(
            {id: self._states[id].query_of(rule) for id, rule in due.items()}, at=now, rules=self._in_force()
        )
        changes: list[AlertChange] = []
        blind: dict[str, str] = {}
        backfill = Backfill(self._router, self._evaluate, seconds=self._backfill_for)
        for id, rule in due.items():
            await asyncio.sleep(0)  # others may run between the rules of a large cluster
            evaluation = await self._conclude(rule, answers[id], now, backfill)
            changes += evaluation.changes
            if evaluation.blind:
                blind[id] = evaluation.blind
        if OUT_OF_TIME in blind.values():
            self._backfill_for = min(2 * self._backfill_for, BACKFILL_FOR)
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

    def _take_due(self, now: datetime) -> tuple[Mapping[str, Rule], datetime]:
        """Return the rules that are due, and the time as of which they are evaluated. Set when they are due next.

        A loop wakes up a little late, each time by something else: alerts would be a moment too young for their `for`,
        and wait for one more cycle.
        """
        due: dict[str, Rule] = {}
        passed: list[datetime] = []
        for id, rule in self.rules.items():
            if self._states[id].missed:  # times that pass while it is behind are missed as well
                self._states[id].catch_up(rule.interval, now)
            moment = self._states[id].due
            if moment is not None and moment <= now:
                passed.append(moment)
            elif moment is not None and not self._is_brought_forward(rule.query):
                continue
            due[id] = rule
        self._failed = frozenset()
        slot = max(passed, default=now)
        at = slot if now - slot <= LATE else now
        for id, rule in due.items():
            self._states[id].due = next_moment(self._states[id].due or at, rule.interval, now)
        return due, at

    def _is_brought_forward(self, query: Query) -> bool:
        return isinstance(query, CheckQuery) and not self._failed.isdisjoint(self._router.kinds_of(query))

    async def _conclude(
        self, rule: Rule, answer: QueryResult, now: datetime, backfill: Backfill
    ) -> RuleEvaluation:
        state = self._states[rule.id]
        if isinstance(answer, Blind):
            if not isinstance(rule.query, CheckQuery):
                state.miss(now)
            return RuleEvaluation(alerts=state.alerts, blind=answer.reason)
        changes, reason = await backfill.run(rule, state)
        if reason == OUT_OF_TIME and self._backfill_for < BACKFILL_FOR:
            state.again(rule.interval)
        elif reason:
            state.miss(now)
        if reason:
            return RuleEvaluation(alerts=state.alerts, changes=tuple(changes), blind=reason)
        state.is_proven = True
        evaluation = await self._evaluate(rule, answer, now)
        self._router.record_unusable(rule.id, rule.query, evaluation.blind or evaluation.left_out)
        return replace(evaluation, changes=(*changes, *evaluation.changes))

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

    async def _evaluate(self, rule: Rule, answer: QueryResult, now: datetime) -> RuleEvaluation:
        state = self._states[rule.id]
        try:
            result = await run_steps(
                evaluate(
                    rule,
                    state.alerts,
                    answer,
                    cluster=self._cluster,
                    renderer=self._renderer,
                    now=now,
                    proven=self._proven,
                    is_certain=state.is_certain(rule.query, now),
                )
            )
        except Exception as error:  # one rule's bug must not silence the others
            reason = self._errors.contain(error, "rule", rule=rule.id)
            return RuleEvaluation(alerts=state.alerts, blind=reason)
        state.alerts, state.evaluated = result.alerts, now
        return result
