"""The judgement of remediations: whether what a rule does by itself may run now, in trial exactly as if it ran."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from alerts.alert import Alert
from alerts.incidents.incident import Incident, Member
from alerts.rules import Rule
from alerts.silences import Silence
from alerts.store import StoreSnapshot, Unit
from collectors.facts.clock import Clock
from collectors.facts.results import SourceError
from collectors.facts.sentences import listed, said_by, sentence
from commands.core.approval import check_automation
from commands.core.budget_pictures import CACHE_DELAY
from commands.core.budgets import Budgets
from commands.core.command import DeniedError, UnusableError
from commands.core.confirmation import namespaces_of, record_confirmation
from commands.core.parsing import find
from commands.core.pipeline import Pipeline
from commands.core.remediations import ACTOR, REMEDIATION, RemediationGate, open_breaker
from commands.core.request import Actor, ActorKind, Request
from commands.core.windows import WindowGate
from commands.execution.plan import Origin, Plan
from commands.execution.plan_gate import verdict_on
from commands.gates.budget import HOUR
from commands.gates.node_use import nodes_taken_out
from commands.gates.picture import commands_of_all
from commands.gates.remediation import (
    Allowance,
    Remediation,
    RemediationState,
    remediation_id,
    why_alone,
    why_not_seen,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class RemediationCase:
    """A firing alert that its rule has a remediation for, and what else fires there."""

    alert: Alert
    rule: Rule
    incident: Incident
    member: Member
    firing: Sequence[Alert]
    silences: Sequence[Silence]


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """What becomes of a remediation now, with the plan that was judged; None where none was made."""

    one: Remediation
    plan: Plan | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RemediationJudge:
    """Judges what rules may do by themselves, with the gates of all plans."""

    pipeline: Pipeline
    clock: Clock
    gate: RemediationGate
    budgets: Budgets
    windows: WindowGate
    allowance: Allowance

    def begin(self, case: RemediationCase, line: str, now: datetime) -> Remediation:
        """Return the remediation of a firing that nothing is known of yet."""
        alert = case.alert
        command = find(line.split(), self.pipeline.catalogue)
        one = Remediation(
            id=remediation_id(alert),
            cluster=alert.cluster,
            rule=alert.rule,
            rule_name=case.rule.name,
            alert=alert.id,
            incident=case.incident.id,
            summary=case.member.summary,
            line=line,
            command=command.name,
            node=alert.subject.node,
            pool=self.budgets.pool_of(alert.cluster, alert.subject.node),
            is_trial=True,
            since=alert.life.fired_at or alert.life.since,
            at=now,
        )
        return self.as_allowed(one)

    def as_allowed(self, one: Remediation) -> Remediation:
        """Return it in trial or live, as the settings say now: it may be held since before they changed."""
        command = find(one.line.split(), self.pipeline.catalogue)
        refused = self.pipeline.permissions.refusal(remediation_actor(one), command, cluster=one.cluster)
        return replace(one, is_trial=refused is not None or not self.allowance.covers(one))

    async def judged(
        self,
        one: Remediation,
        case: RemediationCase,
        lately: Sequence[Remediation],
        snapshot: StoreSnapshot,
        now: datetime,
    ) -> Judgement:
        """Return the remediation as the gates judge it now, in trial exactly as if it ran, with its plan."""
        if reason := self._before_planning(one, case, now):
            return Judgement(one=replace(one, reason=reason))
        if (breaker := await open_breaker(one, self.gate.limits, snapshot)) is not None:
            stopped = replace(
                one, state=RemediationState.STOPPED, reason=breaker.why_stopped, breaker=breaker.id
            )
            return Judgement(one=stopped)
        try:
            plan, draft = await self.pipeline.sketch(self._request(one), one.cluster)
            if not draft.nothing_to_do:
                self._check(plan, one)
        except (DeniedError, UnusableError) as error:
            return Judgement(one=replace(one, state=RemediationState.REFUSED, reason=said_by(error)))
        except (SourceError, TimeoutError) as error:
            reason = sentence("the cluster cannot be read: {error}", error=said_by(error))
            return Judgement(one=replace(one, reason=reason))
        one = replace(one, title=draft.title, takes_out=bool(nodes_taken_out(plan)))
        cordoned = _imagined(one, lately, case.firing, now)
        is_again = one.node in cordoned and _is_done_already(one, lately, cordoned)
        if draft.nothing_to_do or is_again:
            why = draft.nothing_to_do or sentence("it would have been done before")
            return Judgement(one=replace(one, state=RemediationState.NOTHING, reason=why))
        return await self._within_limits(one, plan, lately, cordoned, snapshot, now)

    def _before_planning(self, one: Remediation, case: RemediationCase, now: datetime) -> str:
        """Return why it waits whatever its plan would be; empty if nothing is against it."""
        reason: str = why_not_seen(case.alert, self.gate.blind_for(one.rule, one.cluster)) or why_alone(
            case.alert, case.rule.template.remediation_with, case.firing
        )
        if not reason and any(silence.covers(case.alert.labels, now) for silence in case.silences):
            reason = sentence("its alert is silenced")
        return reason

    def _check(self, plan: Plan, one: Remediation) -> None:
        """Raise DeniedError for what automation may not do: what needs a second person, and other namespaces."""
        actor = remediation_actor(one)
        check_automation(plan, actor)
        if not one.is_trial:
            command = find(one.line.split(), self.pipeline.catalogue)
            self.pipeline.permissions.check(
                actor, command, cluster=one.cluster, namespaces=namespaces_of(plan.steps)
            )

    async def _within_limits(
        self,
        one: Remediation,
        plan: Plan,
        lately: Sequence[Remediation],
        cordoned: Mapping[str, str],
        snapshot: StoreSnapshot,
        now: datetime,
    ) -> Judgement:
        """Judge its plan by windows and budgets."""
        if (verdict := await verdict_on(plan, self.windows, snapshot)).holds:
            return Judgement(one=replace(one, reason=verdict.reason))
        acted = [other for other in lately if other.has_acted and now - other.at < HOUR]
        try:
            uses = await self.budgets.uses(
                plan,
                snapshot,
                imagined=cordoned,
                imagined_lately=[other.node for other in acted],
                imagined_commands=commands_of_all(
                    *({other.node: frozenset({other.command})} for other in acted)
                ),
            )
        except SourceError as error:
            reason = sentence("its budgets are not known: {error}", error=said_by(error))
            return Judgement(one=replace(one, reason=reason))
        one = replace(one, figures=tuple(use.said for use in uses))
        if over := [use.said for use in uses if use.is_over]:
            return Judgement(one=replace(one, reason=listed(over, ";")))
        one = replace(one, state=RemediationState.TRIAL if one.is_trial else RemediationState.RUN)
        return Judgement(one=one, plan=replace(plan, notes=(*plan.notes, *one.figures)))

    async def confirm(self, found: Judgement, unit: Unit) -> Remediation:
        """Store the plan that was judged as confirmed, and return the remediation with it: once, whatever is killed.

        Raises UnusableError if a row changed since it was planned.
        """
        assert found.plan is not None
        one = found.one
        plan = replace(found.plan, id=f"p{await unit.next_number('plan')}")
        times = self.pipeline.times
        await record_confirmation(unit, plan, by=remediation_actor(one), clock=self.clock, times=times)
        return replace(one, plan=plan.id)

    def _request(self, one: Remediation) -> Request:
        """Return its line as it goes down the road of all commands."""
        origin = Origin(via=REMEDIATION, incident=one.incident, remediation=one.id, why=one.summary)
        return Request(
            id=f"{REMEDIATION}/{one.id}",
            line=one.line,
            actor=remediation_actor(one),
            at=self.clock.now(),
            origin=origin,
        )


def remediation_actor(one: Remediation) -> Actor:
    name = sentence("remediation of {rule}", rule=one.rule_name)
    return Actor(id=REMEDIATION, name=name, kind=ActorKind.AUTOMATION, person=ACTOR)


def was_done_before(one: Remediation, lately: Sequence[Remediation], now: datetime) -> bool:
    """Whether it was done for the same alert within the hour, which has fired again."""
    return any(
        other.alert == one.alert
        and now - other.at < HOUR
        and (other.has_acted or other.state is RemediationState.NOTHING)
        for other in lately
    )


def _imagined(
    one: Remediation, lately: Sequence[Remediation], firing: Sequence[Alert], now: datetime
) -> dict[str, str]:
    """Return the nodes that count as out of service although the cluster does not show it.

    Those of a trial do until their alert is over, for an hour at most; what runs is soon seen.
    """
    fires = {remediation_id(alert) for alert in firing}
    out: dict[str, str] = {}
    for other in lately:
        since = now - other.at
        stays = one.is_trial and other.takes_out and other.id in fires and since < HOUR
        is_out = since < CACHE_DELAY or stays
        if other.has_acted and not other.has_failed and is_out and other.node:
            out[other.node] = _why_imagined(other, is_trial=one.is_trial)
    return out


def _why_imagined(other: Remediation, *, is_trial: bool) -> str:
    match (is_trial, other.takes_out):
        case (True, True):
            return sentence("{rule} would have cordoned it", rule=other.rule_name)
        case (False, True):
            return sentence("{rule} cordons it", rule=other.rule_name)
        case (True, False):
            return sentence("{rule} would have worked on it", rule=other.rule_name)
        case _:
            return sentence("{rule} works on it", rule=other.rule_name)


def _is_done_already(one: Remediation, lately: Sequence[Remediation], imagined: Mapping[str, str]) -> bool:
    """Whether another remediation of late did the same to its node: cordoned it, or ran the same line."""
    return any(
        other.node == one.node
        and other.has_acted
        and not other.has_failed
        and (other.line == one.line or (one.takes_out and other.takes_out))
        for other in lately
        if other.node in imagined
    )
