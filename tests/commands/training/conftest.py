"""A small cluster on the look-alike, and a command pipeline for it."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from commands.core.context import Defaults
from demo.lookalikes.kubernetes import KubernetesLookalike, Settings
from tests.support.yard import Hands, Yard, a_node_tree, yard_before

SECRET = "eyJhdXRocyI6e319"  # {"auths":{}}


@pytest.fixture
async def kube(clock: Hands) -> AsyncIterator[KubernetesLookalike]:
    """Two nodes with 8 GPUs, and the registry's pull secret in namespace `platform`."""
    async with KubernetesLookalike.running(clock=clock.now, settings=Settings(node_grace=None)) as running:
        for name in ("gpu-a01", "gpu-a02"):
            running.create(a_node_tree(name, labels={"pool": "large"}), keep_status=True)
        running.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "platform"}})
        running.create(
            {
                "apiVersion": "v1",
                "kind": "Secret",
                "metadata": {"name": "regcred", "namespace": "platform"},
                "type": "kubernetes.io/dockerconfigjson",
                "data": {".dockerconfigjson": SECRET},
            }
        )
        yield running


@pytest.fixture
async def yard(kube: KubernetesLookalike, clock: Hands, tmp_path: Path) -> AsyncIterator[Yard]:
    policy = Defaults(pull_secret="platform/regcred", training_images=("registry.example/*",))
    async with yard_before(kube.kubeconfig(tmp_path / "config"), clock=clock, policy=policy) as made:
        yield made
