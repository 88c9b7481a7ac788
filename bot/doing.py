"""This file does what is confirmed: it takes plans from the journal, performs them, and records how they ended."""

import asyncio
from collections.abc import Mapping
from dataclasses import replace

import structlog

from alerts.incidents.folding import add_deed
from alerts.telling.cards import CardId, CardKind, Told, card_id
from collectors.facts.clock import Clock
from commands.performing import Performer
from commands.plans import Plan, PlanState
from commands.rows import AuditEntry
from commands.stores import Store, Unit

AT_ONCE = 4

_log = structlog.get_logger()


class Doer:
    """The owner of all deeds under way. At start it takes up what an earlier process left."""

    def __init__(self, store: Store, performer: Performer, clock: Clock, *, channel: str) -> None:
        self._store = store
        self._performer = performer
        self._clock = clock
        self._channel = channel  # where a deed is told that was asked for elsewhere than in a channel
        self._stirred = asyncio.Event()
        self._under_way: set[str] = set()

    def stir(self, changed: Mapping[str, frozenset[str]]) -> None:
        """A listener of the store: plans have changed."""
        if "plans" in changed:
            self._stirred.set()

    async def run(self) -> None:
        """For ever; a deed that is cut off is taken up at the next start."""
        slots = asyncio.Semaphore(AT_ONCE)
        async with asyncio.TaskGroup() as group:
            while True:
                self._stirred.clear()
                for plan in await self._waiting():
                    if plan.id not in self._under_way:
                        self._under_way.add(plan.id)
                        group.create_task(self._do(plan, slots), name=f"plan {plan.id}")
                await self._stirred.wait()

    async def _waiting(self) -> list[Plan]:
        async with self._store.unit() as unit:
            found = [
                plan
                for state in (PlanState.CONFIRMED, PlanState.RUNNING)
                for plan in await unit.plans.find(state=state.value)
            ]
            for plan in found:
                if plan.id not in self._under_way:
                    await self._announce(unit, plan)
        return found

    async def _do(self, plan: Plan, slots: asyncio.Semaphore) -> None:
        try:
            async with slots:
                over = await self._performer.perform(plan)
            await self._record(over)
        finally:
            self._under_way.discard(plan.id)

    async def _announce(self, unit: Unit, plan: Plan) -> None:
        """See that the deed has its card: under its incident's, in the thread it was typed in, or in the channel."""
        channel = plan.origin.channel or self._channel
        if not channel:
            return
        parent: CardId | None = None
        if plan.origin.incident:
            above = card_id(CardKind.INCIDENT, plan.origin.incident, channel)
            parent = above if await unit.cards.get(above) is not None else None
        await unit.cards.add(
            Told(
                id=card_id(CardKind.DEED, plan.id, channel),
                cluster=plan.cluster,
                kind=CardKind.DEED,
                of=plan.id,
                channel=channel,
                parent=parent,
                thread="" if parent else plan.origin.thread,
            )
        )

    async def _record(self, plan: Plan) -> None:
        """The outcome: in the audit, on the incident's card, and with the plan that it takes back."""
        now = self._clock.now()
        entry = AuditEntry(
            id=f"{plan.id}/{plan.state.value}",
            cluster=plan.cluster,
            at=now,
            actor=plan.actor,
            actor_name=plan.actor_name,
            line=plan.line,
            what=plan.state.value,
            plan=plan.id,
            text=plan.trouble,
        )
        async with self._store.unit() as unit:
            await unit.audit.put(entry)
            if (
                plan.undo_of
                and plan.state is PlanState.DONE
                and (undone := await unit.plans.get(plan.undo_of))
            ):
                await unit.plans.put(replace(undone, undone_by=plan.id))
            if plan.state is PlanState.DONE and plan.origin.incident:
                incident = await unit.incidents.get(plan.origin.incident)
                if incident is not None:
                    done = add_deed(
                        incident,
                        plan=plan.id,
                        line=plan.line,
                        who=plan.actor,
                        who_name=plan.actor_name,
                        now=now,
                    )
                    await unit.incidents.put(done)
        _log.info("a deed is over", plan=plan.id, line=plan.line, state=plan.state.value, why=plan.trouble)
