"""The same world and the same bot on real parts: each scenario is seen, told once, acted on, and recovers."""

from pathlib import Path

import pytest

from alerts.telling.cards import CardKind
from demo.playing import Player
from demo.scenario import load_scenarios
from demo.stage import CLUSTER, Stage
from tests.real.servers.kubernetes import KubernetesCluster

pytestmark = [pytest.mark.real, pytest.mark.asyncio(loop_scope="module")]
PLAYED = [
    "idle-gpus",  # first, for it began in the past
    "hot-gpu",
    "xid-79",
    "dns-overload",
    "volume-format",
    "training-launch",
]


def test_the_bot_is_no_administrator(cluster: KubernetesCluster) -> None:
    def may(*what: str) -> bool:
        return cluster.kubectl("auth", "can-i", *what, "--as", cluster.bot_name).strip() == "yes"

    assert may("patch", "nodes")
    assert may("list", "pods", "--all-namespaces")
    said = cluster.kubectl("get", "clusterrolebindings", "-o", "jsonpath={.items[*].subjects[*].name}")
    assert "yardmaster" in said
    for what in (("delete", "nodes"), ("get", "secrets", "-n", "kube-system"), ("create", "pods"), ("*", "*")):
        with pytest.raises(Exception, match="can-i"):
            may(*what)


@pytest.mark.parametrize("name", PLAYED)
async def test_a_scenario_goes_as_it_says(stage: Stage, player: Player, name: str) -> None:
    result = await player.play(load_scenarios()[name])

    assert result.failures == []
    assert result.told is not None
