"""Two nodes with kubelets, and a command pipeline that has the chart's rights for `node drain`."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from commands.execution.plan import Plan
from commands.execution.steps import Evict
from demo.lookalikes.kubernetes import KubernetesLookalike, Settings, User
from tests.commands.training.test_rights import RIGHTS, grant
from tests.support.drained import Kubelets, kubelets
from tests.support.quick_yaml import from_yaml
from tests.support.yard import Yard, yard_before

NODE, OTHER, SPACE = "gpu-a01", "gpu-a02", "work"


async def quick(seconds: float) -> None:
    await asyncio.sleep(seconds / 100)


@pytest.fixture
async def lookalike() -> AsyncIterator[KubernetesLookalike]:
    """A cluster in which the bot has the rights of the chart for `node drain`, and no others."""
    rights = from_yaml(RIGHTS.read_text())
    async with KubernetesLookalike.running(
        tokens={"bot": User("bot")}, settings=Settings(node_grace=None)
    ) as running:
        grant(running, "look", rights["look"]["cluster"])
        grant(running, "act", rights["act"]["node drain"]["cluster"])
        yield running


@pytest.fixture
async def kube(lookalike: KubernetesLookalike, tmp_path: Path) -> AsyncIterator[Kubelets]:
    async with kubelets(lookalike.kubeconfig(tmp_path / "admin"), SPACE) as made:
        for name in (NODE, OTHER):
            await made.add_node(name, **{"nvidia.com/gpu": "8"})
        yield made


@pytest.fixture
async def yard(lookalike: KubernetesLookalike, kube: Kubelets, tmp_path: Path) -> AsyncIterator[Yard]:
    async with yard_before(lookalike.kubeconfig(tmp_path / "bot", token="bot"), pause=quick) as made:
        yield made


async def cached(yard: Yard, count: int, node: str = NODE) -> None:
    """Wait until the cache shows this many pods on the node."""
    await yard.seen(lambda: len(yard.cluster.inventory().pods_on(node)) == count)


def evicted(plan: Plan) -> list[str]:
    return [step.ref.name for step in plan.steps if isinstance(step, Evict)]
