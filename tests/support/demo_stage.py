"""The demo, whole and in real time: it starts for the first scenario of a file, and the others run in it in turn."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import replace
from typing import Any

from demo.environment import FACTOR, SCRAPE_EVERY, Environment, EnvironmentOptions, start_environment
from demo.runner import Result, ScenarioRunner
from demo.scenario import load_scenarios
from demo.scenario_people import ScenarioPeople
from tests.support.tls import end_closed_connections

STARTS_WITHIN = 240  # seconds
STOPS_WITHIN = 60
# In `make test` these are played on real parts and not on look-alikes too; all are on both in `make soak`.
PLAYED_ON_REAL_PARTS = ("idle-gpus", "xid-79", "training-launch")  # idle-gpus first: it began in the past
ENDS = FACTOR / 3  # nobody reads along, so an alert need not stand for long after its fault
RULES_EVERY = 2 * SCRAPE_EVERY  # as the rules count, two minutes


@asynccontextmanager
async def demo_stage(options: EnvironmentOptions) -> AsyncIterator[Environment]:
    """Start the environment. It is entered and left in one task, as its task groups require.

    Rules are evaluated less often than for people who watch: what they ask is most of what a demo works.
    """
    is_started: asyncio.Future[Environment] = asyncio.get_running_loop().create_future()
    over = asyncio.Event()

    faster = replace(options, ends=ENDS, rules_every=RULES_EVERY)

    async def run() -> None:
        async with start_environment(faster) as environment:
            is_started.set_result(environment)
            await over.wait()
        await end_closed_connections()

    task = asyncio.get_running_loop().create_task(run(), name="demo stage")
    await asyncio.wait((is_started, task), timeout=STARTS_WITHIN, return_when=asyncio.FIRST_COMPLETED)
    if not is_started.done():
        is_started.cancel()
        task.cancel()
        await task  # raises the reason
    try:
        yield is_started.result()
    finally:
        over.set()
        async with asyncio.timeout(STOPS_WITHIN):
            await task


StartStage = Callable[[Mapping[str, Mapping[str, Any]]], AbstractAsyncContextManager[Environment]]


class ScenarioPlayer:
    """It plays scenarios in one environment, whose runners know which incidents belong to an earlier one.

    After a failure the next gets a fresh environment, as does one whose faults began in the past, but where just these
    did: what a failed scenario left behind would fail the others, and its own second try. `start` gets the faults that
    exist from the start.
    """

    def __init__(self, start: StartStage) -> None:
        self._start = start
        self._open = AsyncExitStack()
        self._environment: Environment | None = None
        self._faults: Mapping[str, Mapping[str, Any]] = {}  # with which the environment began

    async def play(self, *names: str) -> Sequence[Result]:
        """Play these at the same time. At most the first may have faults that began in the past."""
        environment = await self.started(names[0])
        played = [load_scenarios()[name] for name in names]
        people = ScenarioPeople(environment)
        results = await asyncio.gather(
            *(
                ScenarioRunner(environment, people=people).run(
                    one, beside=[other for other in played if other != one]
                )
                for one in played
            )
        )
        if not all(one.is_good for one in results):
            await self.close()
        return results

    async def started(self, name: str) -> Environment:
        """Return an environment in which this scenario can begin."""
        faults = {fault.fault: fault.parameters for fault in load_scenarios()[name].initial_faults}
        if faults and faults != self._faults:
            await self.close()
        if self._environment is None:
            self._environment = await self._open.enter_async_context(self._start(faults))
            self._faults = faults
        return self._environment

    async def close(self) -> None:
        self._environment = None
        await self._open.aclose()
