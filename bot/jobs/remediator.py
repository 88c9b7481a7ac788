"""The remediator: does what rules may do by themselves about their alerts, or says what it would have done."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from alerts.alert import Alert
from alerts.cards.posted import CardKind, PostedCard, new_card
from alerts.cards.suggested_actions import fill
from alerts.incidents.incident import Incident
from alerts.incidents.xid_advice import keeps_node
from alerts.lifecycle import AlertState
from alerts.rules import Rule
from alerts.silences import Silence
from alerts.store import Changed, Store, Unit
from bot.event_waits import set_within
from collectors.facts.sentences import said_by
from collectors.internal_errors import InternalErrors
from commands.core.command import UnusableError
from commands.core.parent_members import cards_about
from commands.core.remediation_judge import (
    Judgement,
    RemediationCase,
    RemediationJudge,
    remediation_actor,
    was_done_before,
)
from commands.core.remediations import ACTOR, REMEDIATION, open_breaker
from commands.execution.plan import Plan, PlanState
from commands.gates.breaker import Breaker, why_open
from commands.gates.remediation import Remediation, RemediationState, remediation_id
from commands.models import AuditEntry

LOOK_AGAIN = 15.0  # seconds: budgets, windows and sources change without a row
LATELY = 500  # newest remediations that are read for budgets and breakers
_SHOWN = frozenset({RemediationState.TRIAL, RemediationState.REFUSED})


class Remediator:
    """Looks at the firing alerts whenever alerts change, and now and then. Each firing is acted on once.

    What a gate holds back is tried again for as long as the alert fires; what a breaker stopped is not.
    """

    def __init__(
        self,
        store: Store,
        judge: RemediationJudge,
        *,
        channel: str,
        errors: InternalErrors | None = None,
        rules: Callable[[], Mapping[str, Rule]],
    ) -> None:
        self._store = store
        self._judge = judge
        self._clock = judge.clock
        self._limits = judge.gate.limits
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
            for cluster in self._judge.pipeline.clusters:
                try:
                    await self.look(cluster)
                except Exception as error:  # one cluster's bug must not stop the others
                    self._errors.contain(error, "remediation", cluster=cluster)
            await set_within(self._changed, LOOK_AGAIN)

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

    async def _cases(self, cluster: str, rules: Mapping[str, Rule]) -> list[RemediationCase]:
        async with self._store.read() as snapshot:
            alerts = snapshot.rows(Alert)
            if not await alerts.find(cluster=cluster, state=AlertState.FIRING, rule=list(rules), limit=1):
                return []  # in a storm of others' alerts, all that fire would be read for nothing, again and again
            firing = await alerts.find(cluster=cluster, state=AlertState.FIRING)
            incidents = await snapshot.rows(Incident).find(cluster=cluster, state="open")
            silences = await snapshot.rows(Silence).find(cluster=cluster)
        members = {one.alert: (incident, one) for incident in incidents for one in incident.members}
        found = [
            RemediationCase(
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

    async def _handle(self, case: RemediationCase) -> None:
        if keeps_node(case.incident, case.member):
            return  # its XID leaves the GPU usable
        line = fill(case.rule.template.remediation, case.alert.subject.or_else(case.incident.subject))
        if line is None:
            return
        now, id = self._clock.now(), remediation_id(case.alert)
        async with self._store.read() as snapshot:
            known = await snapshot.rows(Remediation).get(id)
            if known is not None and known.is_over:
                return
            one = self._judge.as_allowed(known) if known is not None else self._judge.begin(case, line, now)
            lately = [
                other
                for other in await snapshot.rows(Remediation).find(
                    cluster=one.cluster, newest=True, limit=LATELY
                )
                if other.is_trial == one.is_trial and other.id != one.id
            ]
            found = await self._judge.judged(replace(one, reason=""), case, lately, snapshot, now)
        one = replace(found.one, is_again=was_done_before(one, lately, now), at=now)
        if one.state is RemediationState.HELD and known is not None and one.reason == known.reason:
            return
        try:
            await self._store_one(replace(found, one=one), lately)
        except UnusableError as error:  # a row that its plan changes is another one by now
            held = replace(one, state=RemediationState.HELD, reason=said_by(error))
            await self._store_one(Judgement(one=held), lately)

    async def _store_one(self, found: Judgement, lately: Sequence[Remediation]) -> None:
        """Store what was decided, with its plan, its card, its entry of the audit and a breaker that it opens."""
        async with self._store.unit() as unit:
            one = found.one
            if one.state is RemediationState.RUN:
                one = await self._judge.confirm(found, unit)
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
            await self._may_open(one, [*lately, one], unit)

    async def _may_open(self, one: Remediation, lately: Sequence[Remediation], unit: Unit) -> None:
        limits = self._limits
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

    async def _follow_plans(self, cluster: str) -> None:
        """Note the plans that failed: automation that acts to no effect is stopped."""
        async with self._store.read() as snapshot:
            running = await snapshot.rows(Remediation).find(
                cluster=cluster, state=RemediationState.RUN.value, newest=True, limit=LATELY
            )
            followed = [one for one in running if one.plan and not one.has_failed]
            plans = await snapshot.rows(Plan).get_all([one.plan for one in followed])
        failed = [one for one in followed if one.plan in plans and plans[one.plan].state is PlanState.FAILED]
        if not failed:
            return
        async with self._store.unit() as unit:
            for one in failed:
                after = replace(one, has_failed=True)
                await unit.rows(Remediation).put(after)
                lately = [after if other.id == one.id else other for other in running]
                await self._may_open(replace(after, at=self._clock.now()), lately, unit)

    async def _end_passed(self, cluster: str) -> None:
        """End what was held back until its alert was over."""
        async with self._store.read() as snapshot:
            held = await snapshot.rows(Remediation).find(cluster=cluster, state=RemediationState.HELD.value)
            alerts = await snapshot.rows(Alert).get_all([one.alert for one in held])
        passed = [one for one in held if not _still_fires(one, alerts.get(one.alert))]
        if not passed:
            return
        async with self._store.unit() as unit:
            for one in passed:
                await unit.rows(Remediation).put(
                    replace(one, state=RemediationState.PASSED, at=self._clock.now())
                )


def _still_fires(one: Remediation, alert: Alert | None) -> bool:
    return alert is not None and alert.is_firing and remediation_id(alert) == one.id


def _entry(one: Remediation) -> AuditEntry:
    return AuditEntry(
        id=f"{REMEDIATION}/{one.id}/{one.state.value}",
        cluster=one.cluster,
        at=one.at,
        actor=ACTOR,
        actor_name=remediation_actor(one).name,
        line=one.line,
        what=one.state.value,
        text=one.reason,
    )
