"""Trainings that hold GPUs on the look-alike, and a command pipeline for it."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from alerts.routing import CardRouting
from bot.jobs.agenda import Agenda
from bot.jobs.due_catalogue import due_works
from collectors.gpu_activity import MEASURE, UTIL
from commands.core.context import Defaults
from demo.lookalikes.kubernetes import KubernetesLookalike, Settings
from tests.support.yard import NOON, Hands, Yard, a_node_tree, yard_before

MakeTraining = Callable[..., None]


@pytest.fixture
async def kube(clock: Hands) -> AsyncIterator[KubernetesLookalike]:
    """Two nodes with 8 GPUs, and a cordoned one."""
    async with KubernetesLookalike.running(clock=clock.now, settings=Settings(node_grace=None)) as running:
        for name in ("gpu-a01", "gpu-a02", "gpu-b01"):
            running.create(a_node_tree(name), keep_status=True)
        running.patch("nodes", "", "gpu-b01", {"spec": {"unschedulable": True}})
        yield running


@pytest.fixture
async def yard(kube: KubernetesLookalike, clock: Hands, tmp_path: Path) -> AsyncIterator[Yard]:
    """While a plan waits, the kubelets start what is bound to them."""

    async def pause(_: float) -> None:
        await asyncio.sleep(0.01)
        for pod in kube.list("pods"):
            if pod["spec"].get("nodeName") and pod["status"].get("phase") == "Pending":
                meta = pod["metadata"]
                kube.patch(
                    "pods", meta["namespace"], meta["name"], {"status": {"phase": "Running"}}, status=True
                )

    policy = Defaults(owners={"ana": "U_ANA"})
    config = kube.kubeconfig(tmp_path / "config")
    async with yard_before(config, clock=clock, policy=policy, pause=pause) as made:
        yield made


def an_agenda(yard: Yard) -> Agenda:
    works = due_works(
        yard.store,
        {yard.cluster.name: yard.cluster},
        yard.clock,
        yard.pipeline.handle,
        remind_after=timedelta(),
        routing=CardRouting(),
    )
    return Agenda(yard.store, yard.clock, works)


async def trained(
    yard: Yard,
    kube: KubernetesLookalike,
    name: str = "detr",
    *,
    owner: str = "ana",
    workers: int = 2,
    gpus: int = 4,
    resource: str = "nvidia.com/gpu",
    began: timedelta = timedelta(hours=3),
) -> None:
    """Create a training in its own namespace, and wait until the cache shows its pods running."""
    labels = {"training": name, "team": "vision", "owner": owner}
    namespace = f"vision-{name}"
    kube.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace, "labels": labels}})
    container = {"name": "main", "image": "i", "resources": {"limits": {resource: str(gpus)}}}
    spec: dict[str, Any] = {
        "completionMode": "Indexed",
        "parallelism": workers,
        "completions": workers,
        "template": {"spec": {"restartPolicy": "Never", "containers": [container]}},
    }
    job = {"name": f"{name}-worker", "namespace": namespace, "labels": labels}
    kube.create({"apiVersion": "batch/v1", "kind": "Job", "metadata": job, "spec": spec})

    def ranks() -> list[Any]:
        return [
            rank for view in yard.cluster.trainings() if view.namespace == namespace for rank in view.ranks
        ]

    await yard.seen(lambda: len(ranks()) == workers and all(rank.node for rank in ranks()))
    start = {"phase": "Running", "startTime": f"{NOON - began:%Y-%m-%dT%H:%M:%SZ}"}
    for rank in ranks():
        kube.patch("pods", namespace, rank.pod, {"status": start}, status=True)
    await yard.seen(lambda: all(rank.phase == "Running" for rank in ranks()))


def measured(
    yard: Yard,
    values: dict[str, float],
    *,
    times: float = 30,
    memory: float = 61_000,
    names: Sequence[str] = ("detr",),
) -> None:
    """Set the results of Prometheus: the maximum per rank, by its index (or `3.5` for its GPU 5)."""
    ranks = [(view, rank) for view in yard.cluster.trainings() if view.name in names for rank in view.ranks]
    most = []
    for view, rank in ranks:
        for gpu in range(round(rank.gpus)):
            value = values.get(f"{rank.index}.{gpu}", values.get(str(rank.index), 0.0))
            labels = {
                "exported_namespace": view.namespace,
                "exported_pod": rank.pod,
                "UUID": f"GPU-{rank.pod}-{gpu}",
            }
            most.append((labels, value))
    say_activity(yard, most, times=times, memory=memory)


def say_activity(
    yard: Yard,
    most: Sequence[tuple[dict[str, str], float]],
    *,
    times: float = 30,
    memory: float = 61_000,
) -> None:
    """Set the results of Prometheus: the most that each device worked, by its labels."""
    parts = {"most": most, "seen": [(labels, times) for labels, _ in most]}
    activity = [
        ({**labels, MEASURE: f"{UTIL}/{what}"}, value)
        for what, part in parts.items()
        for labels, value in part
    ]
    yard.prometheus.rows.clear()
    yard.prometheus.say("label_replace(", UTIL, samples=activity)
    yard.prometheus.say("DCGM_FI_DEV_FB_USED", samples=[(labels, memory) for labels, _ in most])
