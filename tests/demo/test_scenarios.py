"""The demo on look-alikes: each scenario is detected, posted once, acted on, and recovers."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any

import pytest
import pytest_asyncio

from demo.environment import Environment, EnvironmentOptions
from demo.scenario import load_scenarios
from tests.support.demo_stage import PLAYED_ON_REAL_PARTS, ScenarioPlayer, demo_stage

# In `make test` these play at the same time, as they touch different things.
TOGETHER = ("node-not-ready", "dns-overload", "volume-format")
ALONE = ("rack-power", "prometheus-down")
# A browser plays hot-gpu in tests/browser/test_cordon.py. The others differ from it, or from idle-gpus, in the rule.
PLAYED_ELSEWHERE = (*PLAYED_ON_REAL_PARTS, "hot-gpu", "memory-hot-node", "error-burst", "idle-own")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def player(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[ScenarioPlayer]:
    def start(faults: Mapping[str, Mapping[str, Any]]) -> AbstractAsyncContextManager[Environment]:
        folder = tmp_path_factory.mktemp("stage")
        return demo_stage(EnvironmentOptions(folder=folder, initial_faults=faults))

    player = ScenarioPlayer(start)
    yield player
    await player.close()


CYCLES = 3


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize(
    "names",
    [
        pytest.param(TOGETHER, id="+".join(TOGETHER)),
        *(pytest.param((name,), id=name) for name in ALONE),
        *(
            pytest.param((name,), id=name, marks=pytest.mark.soak(only=True))
            for name in (*TOGETHER, *PLAYED_ELSEWHERE)
        ),
    ],
)
async def test_a_scenario_runs_as_described(player: ScenarioPlayer, names: Sequence[str]) -> None:
    for result in await player.play(*names):
        assert result.failures == []
        assert result.posted is not None


def test_each_scenario_is_played() -> None:
    assert {*TOGETHER, *ALONE, *PLAYED_ELSEWHERE} == set(load_scenarios())


@pytest.mark.soak(only=True)  # it takes half an hour
@pytest.mark.asyncio(loop_scope="module")
async def test_every_version_of_every_card_of_three_cycles_is_true(player: ScenarioPlayer) -> None:
    """A card meets what an earlier cycle left behind: cordons, silences, incidents of the same object."""
    names = [name for name, one in load_scenarios().items() if not one.initial_faults]
    found = [
        f"cycle {cycle + 1}, {name}: {failure}"
        for cycle in range(CYCLES)
        for name in names
        for result in await player.play(name)
        for failure in result.failures
    ]
    assert found == []
