"""The runner of plans in a yard, which executes what is confirmed."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from bot.jobs.plan_runner import PlanRunner
from demo.side_tasks import beside
from tests.support.yard import Yard


@asynccontextmanager
async def runs_plans(yard: Yard) -> AsyncGenerator[None]:
    decisions = yard.pipeline.decisions
    runner = PlanRunner(
        yard.store, yard.executor, channel="", renew=decisions.renew, divide=decisions.divide, gate_again=0.05
    )
    yard.store.listen(runner.wake)
    async with beside(runner.run()):
        yield
