"""The demo on real parts: each scenario is detected, posted once, acted on, and recovers."""

import pytest

from demo.environment import Environment
from demo.parts.processes import PartError
from demo.runner import ScenarioRunner
from demo.scenario import load_scenarios
from tests.real.servers.kubernetes import KubernetesCluster

pytestmark = pytest.mark.real
PLAYED = [
    "idle-gpus",  # first, because it started in the past
    "hot-gpu",
    "xid-79",
    "dns-overload",
    "volume-format",
    "training-launch",
]


def test_the_bot_is_not_an_administrator(cluster: KubernetesCluster) -> None:
    def may(*what: str) -> bool:
        try:
            return cluster.kubectl("auth", "can-i", *what, as_bot=True).strip() == "yes"
        except PartError:  # kubectl exits with 1 for `no`
            return False

    assert may("patch", "nodes")
    assert may("list", "pods", "--all-namespaces")
    assert not may("delete", "nodes")
    assert not may("list", "secrets", "--namespace", "kube-system")
    assert not may("get", "secrets", "--namespace", "kube-system")
    assert not may("create", "pods", "--namespace", "default")


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("name", PLAYED)
async def test_a_scenario_runs_as_described(stage: Environment, player: ScenarioRunner, name: str) -> None:
    result = await player.run(load_scenarios()[name])

    assert result.failures == []
    assert result.posted is not None
