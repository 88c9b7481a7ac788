"""Scenarios share an environment, but for what would fail because of an earlier one."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

import pytest

from demo.runner import Result
from demo.scenario import Scenario
from tests.support import demo_stage
from tests.support.demo_stage import ScenarioPlayer

IDLE = {"idle": {"training": "speech-tts", "also": "reco-embed"}}


@pytest.fixture
def failing(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """The names of the scenarios that fail from now on."""
    names: set[str] = set()

    class Runner:
        def __init__(self, _environment: object, *, people: object) -> None:
            pass

        async def run(self, scenario: Scenario, *, beside: Sequence[Scenario]) -> Result:
            return Result(name=scenario.name, failures=["it failed"] if scenario.name in names else [])

    monkeypatch.setattr(demo_stage, "ScenarioRunner", Runner)
    return names


async def started_for(*names: str) -> list[Mapping[str, Any]]:
    """Return the faults with which each environment began, of which never two run."""
    begun: list[Mapping[str, Any]] = []
    running = 0

    @asynccontextmanager
    async def start(faults: Mapping[str, Mapping[str, Any]]) -> AsyncIterator[Any]:
        nonlocal running
        running += 1
        assert running == 1
        begun.append(faults)
        yield object()
        running -= 1

    player = ScenarioPlayer(start)
    for name in names:
        await player.play(name)
    await player.close()
    assert running == 0
    return begun


@pytest.mark.usefixtures("failing")
async def test_scenarios_that_pass_share_an_environment() -> None:
    assert await started_for("idle-gpus", "hot-gpu", "xid-79") == [IDLE]


async def test_the_second_try_of_one_that_begins_in_the_past_finds_it_again(failing: set[str]) -> None:
    failing.add("idle-gpus")

    assert await started_for("idle-gpus", "idle-gpus", "hot-gpu") == [IDLE, IDLE, {}]


async def test_what_a_failed_one_left_behind_meets_no_other(failing: set[str]) -> None:
    failing.add("hot-gpu")

    assert await started_for("xid-79", "hot-gpu", "xid-79") == [{}, {}]


@pytest.mark.usefixtures("failing")
async def test_one_that_begins_in_the_past_starts_over_after_others() -> None:
    assert await started_for("hot-gpu", "idle-gpus") == [{}, IDLE]
