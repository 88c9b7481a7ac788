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


@pytest.fixture
def add_training(kube: KubernetesLookalike, yard: Yard, add_pod: Callable[..., Any]) -> Callable[..., Any]:
    """Create ana's training `detr` of so many ranks, each with its pod, and wait until it is seen with all of them."""

    async def made(ranks: int, *, gpus: int, **status: Any) -> None:
        amount = {"nvidia.com/gpu": str(gpus)}
        main = {"name": "main", "image": "i", "resources": {"limits": amount, "requests": amount}}
        spec = {"restartPolicy": "Never", "containers": [main]}
        labels = {"training": "detr", "owner": "ana"}
        job: Any = {
            "apiVersion": "batch/v1",
            "kind": "Job",
            "metadata": {"name": "detr", "labels": labels},
            "spec": {
                "parallelism": ranks,
                "completions": ranks,
                "completionMode": "Indexed",
                "template": {"metadata": {"labels": labels}, "spec": spec},
            },
        }
        uid = kube.create(job, namespace=SPACE)["metadata"]["uid"]
        owner = {"apiVersion": "batch/v1", "kind": "Job", "name": "detr", "uid": uid, "controller": True}
        for index in range(ranks):
            await add_pod(
                f"detr-{index}",
                ownerReferences=[owner],
                labels=labels,
                annotations={"batch.kubernetes.io/job-completion-index": str(index)},
                spec=spec,
                status=status,
            )
        await yard.seen(lambda: any(len(one.ranks) == ranks for one in yard.cluster.trainings()))

    return made


async def lose_node(kube: KubernetesLookalike, yard: Yard) -> None:
    """Let gpu-a01 stop reporting."""
    silent = {"status": {"conditions": [{"type": "Ready", "status": "Unknown"}]}}
    kube.patch("nodes", "", "gpu-a01", silent, status=True)
    await yard.seen(
        lambda: (yard.cluster.inventory().nodes["gpu-a01"].status.conditions or ())[0].status == "Unknown"
    )
