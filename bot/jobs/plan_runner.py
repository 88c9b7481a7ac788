"""The plan runner: executes confirmed plans from the store, and adds their cards."""

import asyncio
import itertools
from collections.abc import Awaitable, Callable
from dataclasses import KW_ONLY, dataclass, field

import structlog

from alerts.cards.posted import PostedCard
from alerts.store import Changed, Store, StoreError
from bot.cards.plan_cards import wanted_plan_card
from bot.event_waits import set_within
from collectors.facts.results import SourceError
from commands.execution.executor import PlanExecutor
from commands.execution.plan import Plan, PlanState

CONCURRENCY = 200  # plans: each of many drains may wait for hours, and must not hold up the others
CHECK_LIMIT = 1_000  # newest cancelled plans that are checked at the start
GATE_AGAIN = 5.0  # seconds between two looks whether what holds plans back has gone
RESUME_AFTER = (1.0, 5.0, 30.0)  # seconds: the pauses before a plan that was interrupted is resumed

_log = structlog.get_logger()


async def as_it_is(_plan: Plan) -> bool:
    """Begin a plan that waited with the steps that were confirmed."""
    return True


async def as_a_whole(_plan: Plan) -> bool:
    """Divide no plan."""
    return False


async def no_preparation(_plan: Plan) -> None:
    """Do nothing before a plan."""


@dataclass(eq=False, slots=True)
class PlanRunner:
    """Owns all running plans. At start it resumes what an earlier process left.

    `renew` plans again what a gate has held back, and returns whether it may begin. `divide` puts plans of its parts in
    the place of one that a gate holds back, if it can be divided. `before` is awaited before a plan begins: it takes a
    few seconds at most, and raises nothing.
    """

    store: Store
    executor: PlanExecutor
    _: KW_ONLY
    channel: str  # for plans that were not requested in a channel
    renew: Callable[[Plan], Awaitable[bool]] = as_it_is
    divide: Callable[[Plan], Awaitable[bool]] = as_a_whole
    pauses: tuple[float, ...] = RESUME_AFTER
    gate_again: float = GATE_AGAIN
    before: Callable[[Plan], Awaitable[None]] = no_preparation
    _changed: asyncio.Event = field(default_factory=asyncio.Event, init=False)
    _running: set[str] = field(default_factory=set, init=False)
    # Plan -> what held it back when it was last tried to divide it.
    _tried: dict[str, str] = field(default_factory=dict, init=False)
    _held: bool = field(default=False, init=False)  # whether a gate holds plans back

    def wake(self, changed: Changed) -> None:
        """Listen to the store: wake up when plans have changed."""
        if not changed.keys().isdisjoint(("plans", "reclaim_requests")):  # an answer may let one go on
            self._changed.set()

    async def run(self) -> None:
        """Run until cancelled; an interrupted plan is resumed at the next start."""
        slots = asyncio.Semaphore(CONCURRENCY)
        self._running.clear()
        async with asyncio.TaskGroup() as group:
            # In this order: a plan cancelled between the two queries is found by one of them.
            self._begin([*await self._to_begin(), *await self._unfinished()], group, slots)
            while True:
                await self._change_or_gate()
                self._begin(await self._to_begin(), group, slots)

    async def _change_or_gate(self) -> None:
        """Wait until plans have changed or, if a gate holds some back, until they are to be tried again."""
        await set_within(self._changed, self.gate_again if self._held else None)
        self._changed.clear()

    async def _to_begin(self) -> list[Plan]:
        """Return what is to be begun: not what a gate still holds back. All that wait are judged by one look."""
        found = await self._waiting()
        held = [one for one in found if one.state is PlanState.WAITING and one.id not in self._running]
        try:
            free = {one.id for one in await self.executor.let_go(held)}
        except StoreError:
            raise
        except Exception as error:  # one plan's bug must not stop the others: each is tried by itself
            _log.warning("plans cannot be judged together", reason=repr(error)[:500])
            free = {one.id for one in held}
        for plan in held:
            if plan.id not in free:
                await self._try_to_divide(plan)
        self._tried = {one.id: self._tried[one.id] for one in held if one.id in self._tried}
        return [one for one in found if one.state is not PlanState.WAITING or one.id in free]

    async def _try_to_divide(self, plan: Plan) -> None:
        """Divide a plan that can be. It is tried again once something else holds it back."""
        if self._tried.get(plan.id) == plan.held:
            return
        self._tried[plan.id] = plan.held
        try:
            if await self.divide(plan):
                _log.info("plan divided", plan=plan.id, line=plan.line)
        except StoreError:
            raise
        except SourceError:
            del self._tried[plan.id]  # what its parts would do cannot be seen now
        except Exception as error:  # one plan's bug must not stop the others
            _log.warning("plan cannot be divided", plan=plan.id, reason=repr(error)[:500])

    def _begin(self, plans: list[Plan], group: asyncio.TaskGroup, slots: asyncio.Semaphore) -> None:
        for plan in sorted(
            plans, key=lambda one: one.confirmed_at or one.created_at
        ):  # what waited goes first
            if plan.id not in self._running:
                self._running.add(plan.id)
                group.create_task(self._do(plan, slots), name=f"plan {plan.id}")

    async def _unfinished(self) -> list[Plan]:
        """Return cancelled plans that an earlier process did not finish stopping."""
        async with self.store.read() as snapshot:
            newest = await snapshot.rows(Plan).find(
                state=PlanState.CANCELLED.value, newest=True, limit=CHECK_LIMIT
            )
        return [plan for plan in newest if not plan.has_ended]

    async def _waiting(self) -> list[Plan]:
        async with self.store.unit() as unit:
            found = [
                plan
                for state in (PlanState.CONFIRMED, PlanState.WAITING, PlanState.RUNNING)
                for plan in await unit.rows(Plan).find(state=state.value)
            ]
            self._held = any(plan.state is PlanState.WAITING for plan in found)
            for plan in found:
                if plan.id in self._running:
                    continue
                if (card := await wanted_plan_card(plan, unit, self.channel)) is not None:
                    await unit.rows(PostedCard).add(card)
        return found

    async def _do(self, plan: Plan, slots: asyncio.Semaphore) -> None:
        async with slots:
            ended = await self._executed(plan)
        if isinstance(ended, Exception):  # one plan's bug must not stop the others
            ended = await self._abandoned(plan, ended)
        self._running.discard(ended.id)
        if ended.state is PlanState.WAITING:
            self._held = True
            return
        _log.info("plan ended", plan=ended.id, line=ended.line, state=ended.state.value, reason=ended.error)

    async def _executed(self, plan: Plan) -> Plan | Exception:
        """Run the plan to its end. Each step may be resumed, so an error is retried, and the store waited for."""
        failures = 0
        while True:
            try:
                found = await self._stored(plan)
                if found.state is PlanState.WAITING and not await self.renew(found):
                    return await self._stored(plan)
                await self.before(found)
                return await self.executor.execute(found)
            except Exception as error:
                if not await self._has_store():  # then it may be to blame
                    failures, pause = 0, self.pauses[-1]
                elif failures == len(self.pauses):
                    return error
                else:
                    failures, pause = failures + 1, self.pauses[failures]
                _log.warning("plan interrupted, resuming", plan=plan.id, reason=repr(error)[:500])
            await asyncio.sleep(pause)

    async def _has_store(self) -> bool:
        try:
            async with self.store.unit():
                return True
        except Exception:
            return False

    async def _stored(self, plan: Plan) -> Plan:
        async with self.store.unit() as unit:
            return await unit.rows(Plan).get(plan.id) or plan

    async def _abandoned(self, plan: Plan, error: Exception) -> Plan:
        """End the plan as failed, as soon as the store takes it."""
        for pause in itertools.chain(self.pauses, itertools.repeat(60.0)):
            try:
                return await self.executor.abandon(plan, error)
            except Exception as again:
                _log.warning("plan cannot be ended", plan=plan.id, reason=repr(again)[:500])
            await asyncio.sleep(pause)
        raise AssertionError("the pauses have no end")
