"""The demo on real parts: each scenario is detected, posted once, acted on, and recovers."""

import pytest

from demo.parts.processes import PartError
from tests.real.e2e.conftest import RealParts
from tests.support.demo_stage import PLAYED_ON_REAL_PARTS, ScenarioPlayer

pytestmark = pytest.mark.real
# What these do to the cluster, other tests do too.
PLAYED_IN_SOAK = ("dns-overload", "hot-gpu", "volume-format")


@pytest.mark.asyncio(loop_scope="module")
async def test_the_bot_is_not_an_administrator(player: ScenarioPlayer, parts: RealParts) -> None:
    # The start takes long, and has the faults that the first scenario begins with.
    await player.started(PLAYED_ON_REAL_PARTS[0])

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
    "name",
    [
        *PLAYED_ON_REAL_PARTS,
        *(pytest.param(name, marks=pytest.mark.soak(only=True)) for name in PLAYED_IN_SOAK),
    ],
)
async def test_a_scenario_runs_as_described(player: ScenarioPlayer, name: str) -> None:
    (result,) = await player.play(name)

    assert result.failures == []
    assert result.posted is not None
