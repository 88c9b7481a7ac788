"""Setup of every test: an environment without Yardmaster settings, a closed event loop, and what runs beside what."""

import asyncio
import gc
import os
import ssl
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from hypothesis import settings
from xdist.remote import Producer

from tests.distribution import Distribution
from tests.support.examples import SOAK

# A slow machine must not fail a test; `make soak` runs longer, with other examples each time.
settings.register_profile("default", deadline=None, derandomize=True)
settings.register_profile(SOAK, deadline=None, max_examples=2_000, print_blob=True)
settings.load_profile("default")

pytest_plugins = ["tests.real.fixtures"]

TESTS = Path(__file__).parent / "tests"
STARTS_SERVERS = ("browser", "contract", "demo", "real", "recorded", "stories")


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> Distribution:
    return Distribution(config, log)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    _leave_long_ones_to_soak(config, items)
    _give_a_second_try(items)


def _leave_long_ones_to_soak(config: pytest.Config, items: list[pytest.Item]) -> None:
    if settings.get_current_profile_name() == SOAK:
        return
    long = {one for one in items if any(mark.kwargs.get("only") for mark in one.iter_markers("soak"))}
    config.hook.pytest_deselected(items=[*long])
    items[:] = [one for one in items if one not in long]


def _give_a_second_try(items: Sequence[pytest.Item]) -> None:
    """In CI a test that starts servers gets a second try; its first failure is listed as RERUN, and is a defect."""
    for item in items:
        folder = item.path.relative_to(TESTS).parts[0] if item.path.is_relative_to(TESTS) else ""
        if os.environ.get("CI") and (folder in STARTS_SERVERS or item.get_closest_marker("real")):
            item.add_marker(pytest.mark.flaky(reruns=1))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say why a test failed that then passed: its list alone explains nothing."""
    for report in terminalreporter.stats.get("rerun", ()):
        terminalreporter.section(f"first failure of {report.nodeid}")
        terminalreporter.write_line(report.longreprtext)
        terminalreporter.write_line(report.caplog)


def pytest_collection_finish() -> None:
    """What was imported and collected stays: the garbage collector need not look through it after each test.

    With Python's own thresholds it took a twelfth of the work of the bot's tests.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)


@pytest.fixture(scope="session", autouse=True)
def _closed_event_loop() -> Iterator[None]:
    """Looptime gets the current loop even for a plain test, which would create one that is never closed."""
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    yield
    asyncio.set_event_loop(None)
    loop.close()


@pytest.fixture(scope="session", autouse=True)
def _no_public_authorities() -> Iterator[None]:
    """No test trusts the authorities of the system, and each client that is made would read all of them (50 ms)."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ssl.SSLContext, "load_default_certs", lambda *_: None)
        yield


@pytest.fixture(autouse=True)
def _no_yardmaster_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    """The developer's own Yardmaster settings must not affect a test."""
    for name in os.environ:
        # YARDMASTER_PARTS is where the parts are stored, not a setting of Yardmaster.
        if name.startswith("YARDMASTER_") and name != "YARDMASTER_PARTS":
            monkeypatch.delenv(name)
