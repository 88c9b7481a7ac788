"""A cluster with pods of all kinds on the look-alike, and a command pipeline for it."""

from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from demo.lookalikes.kubernetes import KubernetesLookalike
from tests.support.yard import NOON, Yard, a_node_tree

SPACE = "work"


@pytest.fixture
async def kube() -> AsyncIterator[KubernetesLookalike]:
    async with KubernetesLookalike.running(
        controllers=False,
        clock=lambda: NOON,
        logs=lambda *_: b"epoch 3\nLoss is NaN\npassword=hunter2hunter2\n",
    ) as running:
        for name in ("gpu-a01", "gpu-a02"):
            running.create(a_node_tree(name), keep_status=True)
        running.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": SPACE}})
        yield running


@pytest.fixture
def add_pod(kube: KubernetesLookalike, yard: Yard) -> Callable[..., Any]:
    """Create a pod as it stands, and wait until the cache has it. `parts`: of its metadata, and its spec and status."""

    async def made(name: str, *, node: str = "gpu-a01", namespace: str = SPACE, **parts: Any) -> Any:
        status = {
            "phase": "Running",
            "conditions": [{"type": "Ready", "status": "True"}],
            **parts.pop("status", {}),
        }
        spec = {
            "containers": [{"name": "main", "image": "registry.example/main:1"}],
            "terminationGracePeriodSeconds": 0,  # no kubelet is here to end it
            **parts.pop("spec", {}),
        }
        if node:
            spec["nodeName"] = node
        tree = {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": name, **parts},
            "spec": spec,
            "status": status,
        }
        pod = kube.create(tree, namespace=namespace, keep_status=True)
        await yard.seen(lambda: f"{namespace}/{name}" in yard.cluster.inventory().pods)
        return pod

    return made


async def lose_node(kube: KubernetesLookalike, yard: Yard) -> None:
    """Let gpu-a01 stop reporting."""
    silent = {"status": {"conditions": [{"type": "Ready", "status": "Unknown"}]}}
    kube.patch("nodes", "", "gpu-a01", silent, status=True)
    await yard.seen(
        lambda: (yard.cluster.inventory().nodes["gpu-a01"].status.conditions or ())[0].status == "Unknown"
    )
