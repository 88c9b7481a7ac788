"""The remediator: does what rules may do by themselves about their alerts, or says what it would have done."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from alerts.alert import Alert
from alerts.cards.posted import CardKind, PostedCard, new_card
from alerts.cards.suggested_actions import fill
from alerts.incidents.incident import Incident, Member
from alerts.incidents.xid_advice import keeps_node
from alerts.lifecycle import AlertState
from alerts.rules import Rule
from alerts.silences import Silence
from alerts.store import Changed, Store, StoreSnapshot, Unit
from collectors.facts.clock import Clock
from collectors.facts.results import SourceError
from collectors.facts.sentences import listed, said_by, sentence
from collectors.internal_errors import InternalErrors
from commands.core.approval import check_automation
from commands.core.budgets import Budgets
from commands.core.command import DeniedError, UnusableError
from commands.core.parent_members import cards_about
from commands.core.parsing import find
from commands.core.pipeline import Pipeline
from commands.core.remediations import ACTOR, REMEDIATION, RemediationGate, open_breaker
from commands.core.request import Actor, ActorKind, Request
from commands.core.windows import WindowGate
from commands.execution.plan import Origin, Plan, PlanState
from commands.gates.breaker import HOUR, Breaker, why_open
from commands.gates.remediation import (
    Allowance,
    Remediation,
    RemediationState,
    remediation_id,
    why_alone,
    why_not_seen,
)
from commands.models import AuditEntry

LOOK_AGAIN = 15.0  # seconds: budgets, windows and sources change without a row
LATELY = 500  # newest remediations that are read for budgets and breakers
UNTIL_SEEN = timedelta(minutes=1)  # until the cache surely shows what a plan has cordoned
_SHOWN = frozenset({RemediationState.TRIAL, RemediationState.REFUSED})


@dataclass(frozen=True, slots=True, kw_only=True)
class _Case:
    """A firing alert that its rule has a remediation for, and what else fires there."""

    alert: Alert
    rule: Rule
    incident: Incident
    member: Member
    firing: Sequence[Alert]
    silences: Sequence[Silence]


class Remediator:
    """Looks at the firing alerts whenever alerts change, and now and then. Each firing is acted on once.

    What a gate holds back is tried again for as long as the alert fires; what a breaker stopped is not.
    """

    def __init__(
        self,
        store: Store,
        clock: Clock,
        pipeline: Pipeline,
        *,
        gate: RemediationGate,
        budgets: Budgets,
        windows: WindowGate,
        allowance: Allowance,
        channel: str,
        errors: InternalErrors | None = None,
        rules: Callable[[], Mapping[str, Rule]],
    ) -> None:
        self._store = store
        self._clock = clock
        self._pipeline = pipeline
        self._gate = gate
        self._budgets = budgets
        self._windows = windows
        self._allowance = allowance
        self._channel = channel
        self._errors = errors or InternalErrors()
        self._rules = rules
        self._changed = asyncio.Event()

    def wake(self, changed: Changed) -> None:
        """Listen to the store: wake up when alerts have changed, or a breaker."""
        if "alerts" in changed or "breakers" in changed:
            self._changed.set()

    async def run(self) -> None:
        """Run until cancelled."""
        while True:
            self._changed.clear()
            for cluster in self._pipeline.clusters:
                try:
                    await self.look(cluster)
                except Exception as error:  # one cluster's bug must not stop the others
                    self._errors.contain(error, "remediation", cluster=cluster)
            with suppress(TimeoutError):
                async with asyncio.timeout(LOOK_AGAIN):
                    await self._changed.wait()

    async def look(self, cluster: str) -> None:
        """Do what is to be done now about the cluster's firing alerts, the oldest first."""
        rules = {
            id: rule
            for id, rule in self._rules().items()
            if rule.template.remediation and rule.is_in_force(cluster)
        }
        await self._follow_plans(cluster)
        for case in await self._cases(cluster, rules) if rules else ():
            await self._handle(case)
        await self._end_passed(cluster)

    async def _cases(self, cluster: str, rules: Mapping[str, Rule]) -> list[_Case]:
        async with self._store.read() as snapshot:
            firing = await snapshot.rows(Alert).find(cluster=cluster, state=AlertState.FIRING)
            if not any(alert.rule in rules for alert in firing):
                return []
            incidents = await snapshot.rows(Incident).find(cluster=cluster, state="open")
            silences = await snapshot.rows(Silence).find(cluster=cluster)
        members = {one.alert: (incident, one) for incident in incidents for one in incident.members}
        found = [
            _Case(
                alert=alert,
                rule=rules[alert.rule],
                incident=members[alert.id][0],
                member=members[alert.id][1],
                firing=firing,
                silences=silences,
            )
            for alert in firing
            if alert.rule in rules and alert.id in members
        ]
        return sorted(
            found,
            key=lambda one: (
                one.alert.life.fired_at or one.alert.life.since,
                one.alert.subject.node,
                one.alert.id,
            ),
        )

    async def _handle(self, case: _Case) -> None:
        if keeps_node(case.incident, case.member):
            return  # its XID leaves the GPU usable
        line = fill(case.rule.template.remediation, case.alert.subject.or_else(case.incident.subject))
        if line is None:
            return
        now, id = self._clock.now(), remediation_id(case.alert)
        async with self._store.read() as snapshot:
            known = await snapshot.rows(Remediation).get(id)
            if known is not None and known.is_over:
                if known.state is RemediationState.RUN and not known.plan:
                    await self._run(known)  # an earlier process was killed before it knew its plan
                return
            one = known or self._new(case, line, now)
            lately = [
                other
                for other in await snapshot.rows(Remediation).find(
                    cluster=one.cluster, newest=True, limit=LATELY
                )
                if other.is_trial == one.is_trial and other.id != one.id
            ]
            found = await self._judged(replace(one, reason=""), case, lately, snapshot, now)
        found = replace(found, is_again=_was_done(one, lately, now))
        if found.state is RemediationState.HELD and known is not None and found.reason == known.reason:
            return
        await self._store_one(replace(found, at=now), [*lately, replace(found, at=now)])
        if found.state is RemediationState.RUN:
            await self._run(found)

    def _new(self, case: _Case, line: str, now: datetime) -> Remediation:
        alert = case.alert
        command = find(line.split(), self._pipeline.catalogue)
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
            pool=self._budgets.pool_of(alert.cluster, alert.subject.node),
            is_trial=True,
            since=alert.life.fired_at or alert.life.since,
            at=now,
        )
        refused = self._pipeline.permissions.refusal(_actor(one), command, cluster=one.cluster)
        return replace(one, is_trial=refused is not None or not self._allowance.covers(one))

    async def _judged(
        self,
        one: Remediation,
        case: _Case,
        lately: Sequence[Remediation],
        snapshot: StoreSnapshot,
        now: datetime,
    ) -> Remediation:
        """Return the remediation as the gates judge it now, in trial exactly as if it ran."""
        reason: str = why_not_seen(case.alert, self._gate.blind_for(one.rule, one.cluster)) or why_alone(
            case.alert, case.rule.template.remediation_with, case.firing
        )
        if not reason and any(silence.covers(case.alert.labels, now) for silence in case.silences):
            reason = sentence("its alert is silenced")
        if reason:
            return replace(one, reason=reason)
        if (breaker := await open_breaker(one, self._gate.limits, snapshot)) is not None:
            reason = sentence("breaker `{breaker}` is open: {why}", breaker=breaker.id, why=breaker.reason)
            return replace(one, state=RemediationState.STOPPED, reason=reason, breaker=breaker.id)
        try:
            plan, draft = await self._pipeline.sketch(self._request(one), one.cluster)
            if not draft.nothing_to_do:
                check_automation(plan, _actor(one))
        except (DeniedError, UnusableError) as error:
            return replace(one, state=RemediationState.REFUSED, reason=said_by(error))
        except (SourceError, TimeoutError) as error:
            return replace(one, reason=sentence("the cluster cannot be read: {error}", error=said_by(error)))
        one = replace(one, title=draft.title)
        cordoned = _imagined(one, lately, case.firing, now)
        if draft.nothing_to_do or one.node in cordoned:
            why = draft.nothing_to_do or sentence("it would have been done before")
            return replace(one, state=RemediationState.NOTHING, reason=why)
        if (verdict := await self._windows(plan, snapshot)).holds:
            return replace(one, reason=verdict.reason)
        try:
            uses = await self._budgets.uses(
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

    async def _store_one(self, one: Remediation, lately: Sequence[Remediation]) -> None:
        """Store what was decided, with its card, its entry of the audit and, where that opens one, a breaker."""
        async with self._store.unit() as unit:
            await unit.rows(Remediation).put(one)
            if one.is_over and one.state is not RemediationState.RUN:  # the plan of that is in the audit
                await unit.rows(AuditEntry).add(_entry(one))
            if one.state in _SHOWN:
                cards = await cards_about(one.incident, unit)
                channel = next((card.channel for card in cards), self._channel)
                parent = next((card.id for card in cards), None)
                if channel:
                    card = new_card(CardKind.REMEDIATION, one, channel, parent=parent)
                    await unit.rows(PostedCard).add(card)
            await self._may_open(one, lately, unit)

    async def _may_open(self, one: Remediation, lately: Sequence[Remediation], unit: Unit) -> None:
        limits = self._gate.limits
        if await open_breaker(one, limits, unit) is not None:
            return
        before = [
            breaker
            for breaker in await unit.rows(Breaker).find(cluster=one.cluster, state="closed", newest=True)
            if breaker.is_over(one, limits)
        ]
        closed_at = max((breaker.closed_at for breaker in before if breaker.closed_at), default=None)
        if not (why := why_open(one, lately, limits, closed_at, one.at)):
            return
        breaker = Breaker(
            id=f"b{await unit.next_number('breaker')}",
            cluster=one.cluster,
            scope=limits.scope,
            name=limits.name_of(one),
            is_trial=one.is_trial,
            opened_at=one.at,
            reason=why,
        )
        await unit.rows(Breaker).put(breaker)
        entry = replace(_entry(one), id=f"{breaker.id}/opened", what="opened", text=why)
        await unit.rows(AuditEntry).put(entry)
        if self._channel:
            await unit.rows(PostedCard).add(new_card(CardKind.BREAKER, breaker, self._channel))

    async def _run(self, one: Remediation) -> None:
        """Run its line, once: the request's id is the same after a crash. Store its plan, or why there is none."""
        answer = await self._pipeline.handle(self._request(one))
        async with self._store.unit() as unit:
            plans = await unit.rows(Plan).find(cluster=one.cluster, actor=ACTOR, newest=True, limit=LATELY)
            plan = next((plan for plan in plans if plan.origin.remediation == one.id), None)
            if plan is not None:
                await unit.rows(Remediation).put(replace(one, plan=plan.id))
            else:
                reason = answer.message.title if answer is not None else ()
                why = "".join(span.text for span in reason) or sentence("it was interrupted")
                await unit.rows(Remediation).put(replace(one, state=RemediationState.REFUSED, reason=why))

    async def _follow_plans(self, cluster: str) -> None:
        """Note the plans that failed: automation that acts to no effect is stopped."""
        async with self._store.unit() as unit:
            running = await unit.rows(Remediation).find(
                cluster=cluster, state=RemediationState.RUN.value, newest=True, limit=LATELY
            )
            plans = await unit.rows(Plan).get_all([one.plan for one in running if one.plan])
            for one in running:
                plan = plans.get(one.plan)
                if plan is not None and plan.state is PlanState.FAILED and not one.has_failed:
                    failed = replace(one, has_failed=True)
                    await unit.rows(Remediation).put(failed)
                    lately = [failed if other.id == one.id else other for other in running]
                    await self._may_open(replace(failed, at=self._clock.now()), lately, unit)

    async def _end_passed(self, cluster: str) -> None:
        """End what was held back until its alert was over."""
        async with self._store.unit() as unit:
            held = await unit.rows(Remediation).find(cluster=cluster, state=RemediationState.HELD.value)
            alerts = await unit.rows(Alert).get_all([one.alert for one in held])
            for one in held:
                alert = alerts.get(one.alert)
                if alert is None or not alert.is_firing or remediation_id(alert) != one.id:
                    await unit.rows(Remediation).put(
                        replace(one, state=RemediationState.PASSED, at=self._clock.now())
                    )

    def _request(self, one: Remediation) -> Request:
        origin = Origin(via=REMEDIATION, incident=one.incident, remediation=one.id, why=one.summary)
        return Request(
            id=f"{REMEDIATION}/{one.id}",
            line=one.line,
            actor=_actor(one),
            at=self._clock.now(),
            origin=origin,
        )


def _actor(one: Remediation) -> Actor:
    name = sentence("remediation of {rule}", rule=one.rule_name)
    return Actor(id=REMEDIATION, name=name, kind=ActorKind.AUTOMATION, person=ACTOR)


def _was_done(one: Remediation, lately: Sequence[Remediation], now: datetime) -> bool:
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
        is_out = since < UNTIL_SEEN or (one.is_trial and other.id in fires and since < HOUR)
        if other.has_acted and not other.has_failed and is_out and other.node:
            out[other.node] = (
                sentence("{rule} would have cordoned it", rule=other.rule_name)
                if one.is_trial
                else sentence("{rule} cordons it", rule=other.rule_name)
            )
    return out


def _entry(one: Remediation) -> AuditEntry:
    return AuditEntry(
        id=f"{REMEDIATION}/{one.id}/{one.state.value}",
        cluster=one.cluster,
        at=one.at,
        actor=ACTOR,
        actor_name=_actor(one).name,
        line=one.line,
        what=one.state.value,
        text=one.reason,
    )
