"""A few ready nodes on a look-alike without controllers, and a command pipeline for it; most folders have their own."""

from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest

from demo.lookalikes.kubernetes import KubernetesLookalike
from tests.support.yard import Hands, Yard, lookalike_with, yard_before


@pytest.fixture
def clock() -> Hands:
    return Hands()


@pytest.fixture
def nodes() -> Sequence[str]:
    """The names of the nodes; override this fixture for others."""
    return ("gpu-a01",)


@pytest.fixture
async def kube(nodes: Sequence[str]) -> AsyncIterator[KubernetesLookalike]:
    async with lookalike_with(*nodes) as running:
        yield running


@pytest.fixture
async def yard(kube: KubernetesLookalike, clock: Hands, tmp_path: Path) -> AsyncIterator[Yard]:
    async with yard_before(kube.kubeconfig(tmp_path / "config"), clock=clock) as made:
        yield made
