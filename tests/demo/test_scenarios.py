"""The demo on look-alikes: each scenario is detected, posted once, acted on, and recovers."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from demo.environment import Environment, EnvironmentOptions
from demo.runner import ScenarioRunner
from demo.scenario import load_scenarios
from tests.support.demo_stage import chosen_scenarios, demo_stage, first_faults


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def stage(
    tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> AsyncIterator[Environment]:
    folder = tmp_path_factory.mktemp("stage")
    faults = first_faults(chosen_scenarios(request))
    async with demo_stage(EnvironmentOptions(folder=folder, initial_faults=faults)) as environment:
        yield environment


@pytest.fixture(scope="module")
def player(stage: Environment) -> ScenarioRunner:
    """One runner for all scenarios: it knows which incidents belong to an earlier one."""
    return ScenarioRunner(stage)


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("name", load_scenarios())
async def test_a_scenario_runs_as_described(player: ScenarioRunner, name: str) -> None:
    result = await player.run(load_scenarios()[name])

    assert result.failures == []
    assert result.posted is not None
