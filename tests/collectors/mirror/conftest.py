"""This file has the fixture of these tests: mirrors that run until the test ends."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable

import pytest

from collectors.mirror.mirror import Mirror


@pytest.fixture
async def keep() -> AsyncIterator[Callable[[Mirror], Awaitable[Mirror]]]:
    """A function that runs a mirror until the test ends."""
    async with asyncio.TaskGroup() as group:
        running: list[asyncio.Task[None]] = []

        async def start(mirror: Mirror) -> Mirror:
            running.append(group.create_task(mirror.run()))
            return mirror

        yield start
        for task in running:
            task.cancel()
