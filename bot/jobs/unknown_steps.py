"""Steps whose write got no answer: looked at again, until the cluster shows whether they were done."""

import asyncio
from dataclasses import KW_ONLY, dataclass, field
from datetime import timedelta

import structlog

from alerts.store import Changed, Store
from collectors.facts.clock import Clock
from collectors.facts.results import SourceError
from collectors.internal_errors import InternalErrors
from commands.execution.executor import PlanExecutor
from commands.execution.plan import Plan, StepRecord, StepState

PAUSES = (5.0, 60.0)  # seconds between two looks: the first, doubled up to the longest
LOOK_FOR = timedelta(days=1)  # afterwards only `plan undo` looks

_log = structlog.get_logger()


@dataclass(eq=False, slots=True)
class UnknownSteps:
    """Settles steps whose outcome is not known."""

    store: Store
    executor: PlanExecutor
    clock: Clock
    _: KW_ONLY
    errors: InternalErrors
    pauses: tuple[float, float] = PAUSES
    _changed: asyncio.Event = field(default_factory=asyncio.Event, init=False)

    def wake(self, changed: Changed) -> None:
        """Listen to the store: look when a plan has changed."""
        if "plans" in changed:
            self._changed.set()

    async def run(self) -> None:
        """Run until cancelled."""
        pause, longest = self.pauses
        while True:
            self._changed.clear()
            if await self.check():
                await asyncio.sleep(pause)
                pause = min(pause * 2, longest)
            else:
                await self._changed.wait()
                pause = self.pauses[0]

    async def check(self) -> int:
        """Look once at each of them. Return how many plans still have one."""
        oldest = self.clock.now() - LOOK_FOR
        async with self.store.unit() as unit:
            rows = await unit.rows(StepRecord).find(state=StepState.UNKNOWN.value, newest=True)
        left = 0
        for id in sorted({row.plan for row in rows if row.ended_at is not None and row.ended_at > oldest}):
            try:
                left += not await self._is_settled(id)
            except SourceError as error:
                _log.info("step is still unknown", plan=id, reason=str(error)[:500])
                left += 1
            except Exception as error:  # one plan's bug must not stop the others
                self.errors.contain(error, "plan", plan=id)
                left += 1
        return left

    async def _is_settled(self, id: str) -> bool:
        async with self.store.unit() as unit:
            plan = await unit.rows(Plan).get(id)
        return plan is None or await self.executor.settle(plan) != plan
