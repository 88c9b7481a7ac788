"""The judgement of remediations: whether what a rule does by itself may run now, in trial exactly as if it ran."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from alerts.alert import Alert
from alerts.incidents.incident import Incident, Member
from alerts.rules import Rule
from alerts.silences import Silence
from alerts.store import StoreSnapshot
from collectors.facts.clock import Clock
from collectors.facts.results import SourceError
from collectors.facts.sentences import listed, said_by, sentence
from commands.core.approval import check_automation
from commands.core.budgets import CACHE_DELAY, Budgets
from commands.core.command import DeniedError, UnusableError
from commands.core.parsing import find
from commands.core.pipeline import Pipeline
from commands.core.remediations import ACTOR, REMEDIATION, RemediationGate, open_breaker
from commands.core.request import Actor, ActorKind, Request
from commands.core.windows import WindowGate
from commands.execution.plan import Origin
from commands.gates.breaker import HOUR
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
        refused = self.pipeline.permissions.refusal(remediation_actor(one), command, cluster=one.cluster)
        return replace(one, is_trial=refused is not None or not self.allowance.covers(one))

    async def judged(
        self,
        one: Remediation,
        case: RemediationCase,
        lately: Sequence[Remediation],
        snapshot: StoreSnapshot,
        now: datetime,
    ) -> Remediation:
        """Return the remediation as the gates judge it now, in trial exactly as if it ran."""
        reason: str = why_not_seen(case.alert, self.gate.blind_for(one.rule, one.cluster)) or why_alone(
            case.alert, case.rule.template.remediation_with, case.firing
        )
        if not reason and any(silence.covers(case.alert.labels, now) for silence in case.silences):
            reason = sentence("its alert is silenced")
        if reason:
            return replace(one, reason=reason)
        if (breaker := await open_breaker(one, self.gate.limits, snapshot)) is not None:
            return replace(
                one, state=RemediationState.STOPPED, reason=breaker.why_stopped, breaker=breaker.id
            )
        try:
            plan, draft = await self.pipeline.sketch(self.request(one), one.cluster)
            if not draft.nothing_to_do:
                check_automation(plan, remediation_actor(one))
        except (DeniedError, UnusableError) as error:
            return replace(one, state=RemediationState.REFUSED, reason=said_by(error))
        except (SourceError, TimeoutError) as error:
            return replace(one, reason=sentence("the cluster cannot be read: {error}", error=said_by(error)))
        one = replace(one, title=draft.title)
        cordoned = _imagined(one, lately, case.firing, now)
        if draft.nothing_to_do or one.node in cordoned:
            why = draft.nothing_to_do or sentence("it would have been done before")
            return replace(one, state=RemediationState.NOTHING, reason=why)
        if (verdict := await self.windows(plan, snapshot)).holds:
            return replace(one, reason=verdict.reason)
        try:
            uses = await self.budgets.uses(
                plan,
                snapshot,
                imagined=cordoned,
                imagined_lately=[other.node for other in lately if other.has_acted and now - other.at < HOUR],
            )
        except SourceError as error:
            return replace(one, reason=sentence("its budgets are not known: {error}", error=said_by(error)))
        one = replace(one, figures=tuple(use.said for use in uses))
        if over := [use.said for use in uses if use.is_over]:
            return replace(one, reason=listed(over, ";"))
        return replace(one, state=RemediationState.TRIAL if one.is_trial else RemediationState.RUN)

    def request(self, one: Remediation) -> Request:
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
        is_out = since < CACHE_DELAY or (one.is_trial and other.id in fires and since < HOUR)
        if other.has_acted and not other.has_failed and is_out and other.node:
            out[other.node] = (
                sentence("{rule} would have cordoned it", rule=other.rule_name)
                if one.is_trial
                else sentence("{rule} cordons it", rule=other.rule_name)
            )
    return out
