"""A cluster without controllers and its writer, for tests of the executor."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from collectors.sources.kubernetes.client import KubernetesClient, KubernetesOptions
from commands.execution.cluster_writer import ClusterWriter
from demo.lookalikes.kubernetes import KubernetesLookalike


@pytest.fixture
async def kube(tmp_path: Path) -> AsyncIterator[KubernetesLookalike]:
    async with KubernetesLookalike.running(controllers=False) as kube:
        yield kube


@pytest.fixture
async def writer(kube: KubernetesLookalike, tmp_path: Path) -> AsyncIterator[ClusterWriter]:
    path = kube.kubeconfig(tmp_path / "kubeconfig")
    client = await KubernetesClient.connect(KubernetesOptions(kubeconfig=str(path)))
    try:
        yield ClusterWriter(client)
    finally:
        await client.close()
