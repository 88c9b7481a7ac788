"""This file does what is confirmed: it takes plans from the journal, performs them, and sees that they are told."""

import asyncio
from collections.abc import Mapping

import structlog

from alerts.cards.posted import CardId, CardKind, PostedCard, card_id
from commands.plans.executor import PlanExecutor
from commands.plans.plan import Plan, PlanState
from commands.plans.steps import Record
from commands.store import Store, Unit

AT_ONCE = 4
LOOKED_THROUGH = 1_000  # cancelled plans, the newest, at the start

_log = structlog.get_logger()


class PlanRunner:
    """The owner of all deeds under way. At start it takes up what an earlier process left."""

    def __init__(self, store: Store, executor: PlanExecutor, *, channel: str) -> None:
        self._store = store
        self._executor = executor
        self._channel = channel  # where a deed is told that was asked for elsewhere than in a channel
        self._stirred = asyncio.Event()
        self._under_way: set[str] = set()

    def wake(self, changed: Mapping[str, frozenset[str]]) -> None:
        """A listener of the store: plans have changed."""
        if "plans" in changed:
            self._stirred.set()

    async def run(self) -> None:
        """For ever; a deed that is cut off is taken up at the next start."""
        slots = asyncio.Semaphore(AT_ONCE)
        async with asyncio.TaskGroup() as group:
            # In this order: what is cancelled between the two looks is found by one of them.
            self._begin([*await self._waiting(), *await self._left()], group, slots)
            while True:
                await self._stirred.wait()
                self._stirred.clear()
                self._begin(await self._waiting(), group, slots)

    def _begin(self, plans: list[Plan], group: asyncio.TaskGroup, slots: asyncio.Semaphore) -> None:
        for plan in plans:
            if plan.id not in self._under_way:
                self._under_way.add(plan.id)
                group.create_task(self._do(plan, slots), name=f"plan {plan.id}")

    async def _left(self) -> list[Plan]:
        """What an earlier process was told to stop, and was cut off before it could: not ended yet."""
        async with self._store.unit() as unit:
            newest = await unit.plans.find(state=PlanState.CANCELLED.value, newest=True, limit=LOOKED_THROUGH)
        return [plan for plan in newest if not plan.has_ended]

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
                over = await self._executor.execute(plan)
            _log.info(
                "a deed is over", plan=over.id, line=over.line, state=over.state.value, reason=over.error
            )
        finally:
            self._under_way.discard(plan.id)

    async def _announce(self, unit: Unit, plan: Plan) -> None:
        """See that the deed has its card: under its incident's, in the thread it was typed in, or in the channel."""
        channel = plan.origin.channel or self._channel
        if not channel or _is_bookkeeping(plan):
            return
        parent: CardId | None = None
        if plan.origin.incident:
            above = card_id(CardKind.INCIDENT, plan.origin.incident, channel)
            parent = above if await unit.cards.get(above) is not None else None
        await unit.cards.add(
            PostedCard(
                id=card_id(CardKind.PLAN, plan.id, channel),
                cluster=plan.cluster,
                kind=CardKind.PLAN,
                row_id=plan.id,
                channel=channel,
                parent=parent,
                thread="" if parent else plan.origin.thread,
            )
        )


def _is_bookkeeping(plan: Plan) -> bool:
    """Whether a robot only moved our own rows: a claim is put off every ten minutes while nobody can look."""
    return plan.origin.via == "agenda" and all(isinstance(step, Record) for step in plan.steps)
