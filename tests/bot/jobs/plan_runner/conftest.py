"""Two nodes, and a yard before them."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from demo.lookalikes.kubernetes import KubernetesLookalike
from tests.support.yard import Yard, lookalike_with, yard_before


@pytest.fixture
async def kube() -> AsyncIterator[KubernetesLookalike]:
    async with lookalike_with("gpu-a01", "gpu-a02") as kube:
        yield kube


@pytest.fixture
async def yard(kube: KubernetesLookalike, tmp_path: Path) -> AsyncIterator[Yard]:
    async with yard_before(kube.kubeconfig(tmp_path / "kubeconfig")) as yard:
        yield yard
