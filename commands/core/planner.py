"""The planner: makes a plan of a command, shows it, and confirms it as the cluster is then."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

from alerts.cards.message import Color, Message
from alerts.cards.posted import CardKind, PostedCard, new_card
from alerts.cards.text import text
from alerts.store import Store, Unit
from collectors.facts.clock import Clock
from collectors.facts.sentences import sentence
from commands.core.asking_owners import Consents
from commands.core.budgets import Budgets
from commands.core.command import Answer, AnyCommand, PlanDraft, UnusableError
from commands.core.confirmation import (
    ProposalTimes,
    breaks_now,
    changes_since_shown,
    check_open,
    namespaces_of,
    proposed,
    record_confirmation,
)
from commands.core.context import CommandContext
from commands.core.drafting import Drafting, without_waiting
from commands.core.gate_preview import with_verdict
from commands.core.permissions import Permissions
from commands.core.request import Actor, Request
from commands.core.waiting_plans import WaitingPlans
from commands.execution.plan import Plan, PlanState, Risk
from commands.execution.plan_gate import Gates
from commands.execution.plan_outcome import end_unbegun
from commands.execution.preview import preview
from commands.gates.price import price_of

LATELY = 100  # newest plans of a person, among which that of a request is searched


@dataclass(frozen=True, slots=True, kw_only=True)
class Planner:
    """Makes plans and confirms them. `expires` is how long a preview may wait."""

    permissions: Permissions
    store: Store
    drafting: Drafting
    clock: Clock
    expires: timedelta
    times: ProposalTimes
    budgets: Budgets | None
    gates: Gates
    consents: Consents | None = None

    async def make(
        self, command: AnyCommand, action: Any, context: CommandContext, *, line: str
    ) -> tuple[Plan, PlanDraft]:
        """Return the plan and its draft, after a dry run. Raises DeniedError, UnusableError and SourceError."""
        draft = await self.drafting.draft(command, action, context)
        if not await command.is_own(action, context):
            self.permissions.check(
                context.actor, command, cluster=context.cluster.name, namespaces=namespaces_of(draft.steps)
            )
        draft = await self.drafting.try_out(draft, context, context.actor)
        return await self._proposed(command, draft, context, line), draft

    async def make_for_others(
        self, command: AnyCommand, action: Any, context: CommandContext, *, line: str
    ) -> tuple[Plan, PlanDraft, tuple[str, ...]]:
        """Return the plan of somebody who may not confirm it, its draft, and the teams that may."""
        draft = await self.drafting.tried(command, action, context, context.actor)
        teams = self.permissions.teams_for(
            command, cluster=context.cluster.name, namespaces=namespaces_of(draft.steps)
        )
        return await self._proposed(command, draft, context, line), draft, teams

    async def sketch(
        self, command: AnyCommand, action: Any, context: CommandContext, *, line: str
    ) -> tuple[Plan, PlanDraft]:
        """Return the plan without a number, to see what it would do. Raises UnusableError and SourceError."""
        draft = await self.drafting.tried(command, action, context, context.actor)
        return proposed(command, draft, context, number=0, line=line, expires=self.expires), draft

    async def shown_before(self, request: Request, cluster: str) -> Plan | None:
        """Return the plan that this request proposed before its process ended. Others may have seen it meanwhile."""
        async with self.store.read() as snapshot:
            found = await snapshot.rows(Plan).find(
                cluster=cluster, actor=request.actor.person, newest=True, limit=LATELY
            )
        return next((plan for plan in found if plan.request == request.id), None)

    def start(self, plan: Plan) -> None:
        """Begin the time in which a stored plan may be confirmed."""
        self.times.start(plan, self.clock)

    async def propose(self, plan: Plan, draft: PlanDraft) -> Answer:
        """Store the plan, and return its preview. It replaces an open one of the same person and line."""
        async with self.store.unit() as unit:
            for older in await unit.rows(Plan).find(
                cluster=plan.cluster, actor=plan.actor, state=PlanState.PROPOSED.value
            ):
                if older.line == plan.line and not older.asked_of and not older.is_fixed:
                    reason = sentence("replaced by {plan}", plan=plan.id)
                    await end_unbegun(unit, older, reason, plan.created_at)
            await put_shown(plan, unit)
        self.times.start(plan, self.clock)
        return previewed(plan)

    async def confirm(self, plan: Plan, *, by: Actor, how: str = "") -> Answer:
        """Store the plan as confirmed, as it is. `how`: on what the confirmation rests, for the audit."""
        async with self.store.unit() as unit:
            await record_confirmation(unit, plan, by=by, clock=self.clock, times=self.times, how=how)
            if self.consents is not None:
                await self.consents.ask(unit, plan, self.clock.now())
        said = (
            sentence("{title}: confirmed; it waits: {why}", title=plan.title, why=plan.held)
            if plan.held
            else sentence("{title}: confirmed, starting.", title=plan.title)
        )
        message = Message(title=text(said), color=Color.BUSY)
        return Answer(message=message, has_card=True)

    async def confirm_again(
        self,
        plan: Plan,
        command: AnyCommand,
        words: Sequence[str],
        context: CommandContext,
        *,
        asker: Actor,
        by: Actor,
        how: str = "",
        is_consent: bool = False,
    ) -> Answer:
        """Plan again as the cluster is now, and confirm that; or show it, if it is not what was shown before.

        `is_consent`: who confirms it owns what it ends, and needs no right to do it.
        """
        draft = await self.drafting.again(command, words, context, plan, asker)
        if draft.nothing_to_do:
            raise _nothing_left(draft)
        if not is_consent:
            await self.drafting.check_rights(draft, context, by)
        breaks = breaks_now(plan, draft, asker, context)
        if changes := changes_since_shown(plan, draft, breaks):
            shown_to = replace(context, actor=asker)
            return await self._show_again(command, plan, draft, shown_to, note=changes)
        # What was decided, as it is now: times count from now, and pods have come and gone.
        fresh = replace(
            plan,
            title=draft.title,
            stages=draft.stages,
            disrupts=draft.disrupts,
            stakes=draft.stakes,
            price=price_of(draft.stakes).said,
            blockers=draft.blockers,
            breaks=breaks,
        )
        return await self.confirm(fresh, by=by, how=how)

    async def exceed(
        self,
        plan: Plan,
        command: AnyCommand,
        words: Sequence[str],
        context: CommandContext,
        *,
        reason: str,
    ) -> Answer:
        """Plan again, and propose that in the place of the plan which a budget or a window holds back."""
        if not plan.held:
            raise UnusableError(sentence("Nothing holds plan `{plan}` back.", plan=plan.id))
        draft = await self.drafting.again(command, words, context, plan, context.actor)
        if draft.nothing_to_do:
            raise _nothing_left(draft)
        draft = without_waiting(draft, plan.held_by, reason, replaces=plan.id)
        return await self.propose(await self._proposed(command, draft, context, plan.line), draft)

    @property
    def waiting(self) -> WaitingPlans:
        """What is decided about confirmed plans that wait."""
        return WaitingPlans(
            drafting=self.drafting, store=self.store, clock=self.clock, expires=self.expires, gates=self.gates
        )

    async def _proposed(
        self, command: AnyCommand, draft: PlanDraft, context: CommandContext, line: str
    ) -> Plan:
        number = 0
        if not draft.nothing_to_do:
            async with self.store.unit() as unit:
                number = await unit.next_number("plan")
        plan = proposed(command, draft, context, number=number, line=line, expires=self.expires)
        async with self.store.read() as snapshot:
            return await with_verdict(plan, self.gates, self.budgets, snapshot)

    async def _show_again(
        self, command: AnyCommand, plan: Plan, draft: PlanDraft, context: CommandContext, *, note: str
    ) -> Answer:
        changed = replace(draft, notes=(note, *draft.notes))
        fresh = await self._proposed(command, changed, context, plan.line)
        fresh = replace(fresh, actor=plan.actor, actor_name=plan.actor_name, actor_teams=plan.actor_teams)
        async with self.store.unit() as unit:
            stored = await unit.rows(Plan).get(plan.id)
            if stored is not None:
                check_open(
                    stored, self.times.now(stored, self.clock)
                )  # it may have been confirmed during planning
            await end_unbegun(unit, plan, sentence("the cluster changed"), context.now)
            await put_shown(fresh, unit)
        self.times.start(fresh, self.clock)
        return previewed(fresh)


def _nothing_left(draft: PlanDraft) -> UnusableError:
    return UnusableError(sentence("There is nothing left to do: {reason}", reason=draft.nothing_to_do))


async def put_shown(plan: Plan, unit: Unit) -> None:
    """Store a plan; if others have to see it, its card asks them, and shows later what became of it."""
    await unit.rows(Plan).put(plan)
    if _is_on_card(plan):
        card = new_card(CardKind.PLAN, plan, plan.origin.channel, thread=plan.origin.thread)
        await unit.rows(PostedCard).add(card)


def _is_on_card(plan: Plan) -> bool:
    return (plan.risk is Risk.BREAK or bool(plan.asked_of)) and bool(plan.origin.channel)


def previewed(plan: Plan) -> Answer:
    """Return the preview of a plan, and what to say instead where its card shows that to everybody."""
    if not _is_on_card(plan):
        return Answer(message=preview(plan))
    said = sentence(
        "{title}: the card of plan `{plan}` asks for a second person.", title=plan.title, plan=plan.id
    )
    beside = Message(title=text(said), color=Color.INFO)
    return Answer(message=preview(plan), beside_card=beside, has_card=True)
