"""This file has the fixture of these tests: doors that get closed."""

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from datetime import timedelta

import pytest

from collectors.sources.prometheus import PrometheusDoor, PrometheusSettings


@pytest.fixture
async def door_to() -> AsyncIterator[Callable[..., PrometheusDoor]]:
    """A function that opens a door to an address; it is closed after the test."""
    async with AsyncExitStack() as stack:

        def open_door(url: str, **settings: object) -> PrometheusDoor:
            settings.setdefault("timeout", timedelta(seconds=5))
            door = PrometheusDoor(PrometheusSettings(url=url, **settings))  # type: ignore[arg-type]
            stack.push_async_callback(door.close)
            return door

        yield open_door
