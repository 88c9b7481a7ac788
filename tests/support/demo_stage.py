"""The demo, whole and in real time, for the scenarios of a file: it starts once, and they run in turn."""

import asyncio
from collections.abc import AsyncIterator, Collection, Mapping
from contextlib import asynccontextmanager
from typing import Any

import pytest

from demo.environment import Environment, EnvironmentOptions, start_environment
from demo.scenario import load_scenarios
from tests.support.tls import end_closed_connections

STARTS_WITHIN = 240  # seconds
STOPS_WITHIN = 60


def chosen_scenarios(request: pytest.FixtureRequest) -> frozenset[str]:
    """Return the scenarios that this run plays of the file: the values of `name`."""
    return frozenset(
        str(item.callspec.params["name"])
        for item in request.session.items
        if isinstance(item, pytest.Function) and hasattr(item, "callspec") and item.path == request.path
    )


def first_faults(scenarios: Collection[str]) -> Mapping[str, Mapping[str, Any]]:
    """Return the faults that these scenarios begin with, which exist from the start."""
    every = load_scenarios()
    return {fault.fault: fault.parameters for name in scenarios for fault in every[name].initial_faults}


@asynccontextmanager
async def demo_stage(options: EnvironmentOptions) -> AsyncIterator[Environment]:
    """Start the environment. It is entered and left in one task, as its task groups require."""
    is_started: asyncio.Future[Environment] = asyncio.get_running_loop().create_future()
    over = asyncio.Event()

    async def run() -> None:
        async with start_environment(options) as environment:
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
