"""The demo on real parts: each scenario is detected, posted once, acted on, and recovers."""

import pytest
from hypothesis import settings

from demo.parts.processes import PartError
from tests.real.e2e.conftest import RealParts
from tests.support.demo_stage import ScenarioPlayer
from tests.support.examples import SOAK

pytestmark = pytest.mark.real
PLAYED = ["idle-gpus", "xid-79", "dns-overload", "training-launch"]  # idle-gpus first: it began in the past
PLAYED_IN_SOAK = ["hot-gpu", "volume-format"]  # what they do to the cluster, the others do too


@pytest.mark.asyncio(loop_scope="module")
async def test_the_bot_is_not_an_administrator(player: ScenarioPlayer, parts: RealParts) -> None:
    await player.started(PLAYED[0])  # it takes long, and has the faults that the first begins with

    def may(*what: str) -> bool:
        try:
            return parts.cluster.kubectl("auth", "can-i", *what, as_bot=True).strip() == "yes"
        except PartError:  # kubectl exits with 1 for `no`
            return False

    assert may("patch", "nodes")
    assert may("list", "pods", "--all-namespaces")
    assert not may("delete", "nodes")
    assert not may("list", "secrets", "--namespace", "kube-system")
    assert not may("get", "secrets", "--namespace", "kube-system")
    assert not may("create", "pods", "--namespace", "default")


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize(
    "name", [*PLAYED, *(pytest.param(name, marks=pytest.mark.soak) for name in PLAYED_IN_SOAK)]
)
async def test_a_scenario_runs_as_described(player: ScenarioPlayer, name: str) -> None:
    if name in PLAYED_IN_SOAK and settings.get_current_profile_name() != SOAK:
        pytest.skip("it takes a minute: `make soak`")

    result = await player.play(name)

    assert result.failures == []
    assert result.posted is not None
