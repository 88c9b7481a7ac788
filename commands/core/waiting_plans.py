"""Confirmed plans that wait for a gate: planned again before they begin, divided, or given up."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from alerts.store import Store
from collectors.facts.clock import Clock
from collectors.facts.sentences import sentence
from commands.core.command import AnyCommand, PlanDraft, UnusableError
from commands.core.confirmation import breaks_now, changes_since_shown, proposed
from commands.core.context import CommandContext
from commands.core.dividing import as_part, divided, does_more, may_be_divided
from commands.core.drafting import Drafting
from commands.core.parsing import action_of
from commands.core.request import Actor
from commands.execution.audited import entry_of
from commands.execution.plan import Plan, PlanState
from commands.execution.plan_gate import Gates
from commands.execution.plan_outcome import end_unbegun, notify_asker, record_outcome
from commands.models import AuditEntry


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitingPlans:
    """What becomes of plans that wait. `expires` is how long a preview may wait."""

    drafting: Drafting
    store: Store
    clock: Clock
    expires: timedelta
    gates: Gates

    async def renew(
        self, plan: Plan, command: AnyCommand, words: Sequence[str], context: CommandContext, *, asker: Actor
    ) -> bool:
        """Plan again what waited; store it if it is what was confirmed, and end it if it is not.

        Return whether it may begin. Raises UnusableError if it can no longer be done.
        """
        draft = await self.drafting.again(command, words, replace(context, actor=asker), plan, asker)
        if draft.nothing_to_do:
            raise UnusableError(draft.nothing_to_do)
        breaks = breaks_now(plan, draft, asker, context)
        if changes := changes_since_shown(plan, draft, breaks):
            raise UnusableError(sentence("{changes} Run `{line}` again.", changes=changes, line=plan.line))
        async with self.store.unit() as unit:
            stored = await unit.rows(Plan).get(plan.id)
            if stored is None or stored.state is not PlanState.WAITING:
                return False
            await unit.rows(Plan).put(replace(stored, stages=draft.stages, disrupts=draft.disrupts))
        return True

    async def divide(
        self,
        plan: Plan,
        command: AnyCommand,
        lines: Mapping[str, Sequence[str]],
        context: CommandContext,
        *,
        asker: Actor,
    ) -> bool:
        """Put a plan for each of the lines in the place of one that waits; return whether that was done.

        `lines`: with their words. It waits on as it is if one would do more than was confirmed, or none may go on yet.
        """
        context = replace(context, actor=asker)
        drafts: dict[str, PlanDraft] = {}
        for line, words in lines.items():
            draft = await self.drafting.tried(command, action_of(command, words), context, asker)
            if does_more(plan, draft, breaks_now(plan, draft, asker, context)):
                return False
            if not draft.nothing_to_do:
                drafts[line] = draft
        if len(drafts) < 2:
            return False
        async with self.store.unit() as unit:
            stored = await unit.rows(Plan).get(plan.id)
            if stored is None or not may_be_divided(stored):
                return False

            def part(line: str, number: int) -> Plan:
                found = proposed(
                    command, drafts[line], context, number=number, line=line, expires=self.expires
                )
                return as_part(found, stored)

            parts = [part(line, -number) for number, line in enumerate(drafts, 1)]
            judge = await self.gates.look(parts, unit)
            if all(judge(one).holds for one in parts):
                return False
            first, now = await unit.next_number("plan", len(parts)), self.clock.now()
            parts = [part(line, number) for number, line in enumerate(drafts, first)]
            for one in parts:
                await unit.rows(Plan).put(one)
                await unit.rows(AuditEntry).add(_entry_of_part(one, now))
            ended = divided(stored, parts, now)
            await unit.rows(Plan).put(ended)
            await record_outcome(unit, ended)
        return True

    async def give_up(self, plan: Plan, why: str) -> None:
        """End a plan that waited and can no longer be done as it was confirmed."""
        async with self.store.unit() as unit:
            stored = await unit.rows(Plan).get(plan.id)
            if stored is None or stored.state is not PlanState.WAITING:
                return
            reason = sentence("it was held back, and nothing was done: {why}", why=why)
            await notify_asker(unit, await end_unbegun(unit, stored, reason, self.clock.now()))


def _entry_of_part(part: Plan, now: datetime) -> AuditEntry:
    by, name = part.confirmed_by, part.confirmed_by_name
    why = sentence("part of plan {plan}, which waited", plan=part.part_of)
    return entry_of(part, "confirmed", now, actor=by, actor_name=name, reason=why)
