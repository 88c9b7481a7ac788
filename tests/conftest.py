"""This file sets up what every test relies on: an environment without our settings, and a loop that is closed."""

import asyncio
import os
from collections.abc import Iterator

import pytest
from hypothesis import settings

from tests.support.examples import SOAK

# A slow machine must not decide a test; `make soak` looks longer, at other examples each time.
settings.register_profile("default", deadline=None, derandomize=True)
settings.register_profile(SOAK, deadline=None, max_examples=2_000, print_blob=True)
settings.load_profile("default")

pytest_plugins = ["tests.real.fixtures"]


@pytest.fixture(scope="session", autouse=True)
def _loop_that_is_closed() -> Iterator[None]:
    """Looptime asks for the current loop even around a plain test, which would make one that nobody closes."""
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    yield
    asyncio.set_event_loop(None)
    loop.close()


@pytest.fixture(autouse=True)
def _no_settings_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    """The settings of the developer's own Yardmaster must not decide a test."""
    for name in os.environ:
        # The first names where the parts are kept, not how Yardmaster behaves.
        if name.startswith("YARDMASTER_") and name != "YARDMASTER_PARTS":
            monkeypatch.delenv(name)
