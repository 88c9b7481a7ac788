"""The demo on look-alikes: each scenario is detected, posted once, acted on, and recovers."""

from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager
from typing import Any

import pytest
import pytest_asyncio

from demo.environment import Environment, EnvironmentOptions
from demo.scenario import load_scenarios
from tests.support.demo_stage import ScenarioPlayer, demo_stage


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def player(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[ScenarioPlayer]:
    def start(faults: Mapping[str, Mapping[str, Any]]) -> AbstractAsyncContextManager[Environment]:
        folder = tmp_path_factory.mktemp("stage")
        return demo_stage(EnvironmentOptions(folder=folder, initial_faults=faults))

    player = ScenarioPlayer(start)
    yield player
    await player.close()


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("name", load_scenarios())
async def test_a_scenario_runs_as_described(player: ScenarioPlayer, name: str) -> None:
    result = await player.play(name)

    assert result.failures == []
    assert result.posted is not None
