"""This file builds the cluster through the API: namespaces, platform, trainings; fast, and again without harm."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from datetime import timedelta

from demo.world.kube import objects, platform, training_objects
from demo.world.kube.api import Api, Object
from demo.world.kube.cache import ObjectCache
from demo.world.layout import Layout, TrainingSpec, spare_of

AT_ONCE = 16
PATIENCE = timedelta(seconds=90)


class UnfinishedError(Exception):
    """The cluster did not come up in time. The text says which pods are missing."""


async def create_all(api: Api, made: Iterable[Object]) -> None:
    """Create these objects concurrently; those that are there stay as they are."""
    limit = asyncio.Semaphore(AT_ONCE)

    async def one(found: Object) -> None:
        async with limit:
            await api.create(objects.path_of(found), found)

    async with asyncio.TaskGroup() as tasks:
        for found in made:
            tasks.create_task(one(found))


def namespaces(layout: Layout) -> list[Object]:
    """Of the platform and of every training."""
    made = [objects.namespace(name) for name in ("kube-system", "kube-node-lease", "monitoring", "rook-ceph")]
    for spec in layout.trainings:
        labels = {"team": spec.team, "owner": spec.owner, "training": spec.name}
        notes = {"yardmaster.io/team": spec.team, "yardmaster.io/owner": spec.owner}
        made.append(objects.namespace(spec.namespace, labels, notes))
    return made


def claims(layout: Layout) -> list[Object]:
    return [
        found
        for spec in layout.trainings
        if spec.namespace == "vision-detr"
        for found in training_objects.dataset(spec.namespace, training_objects.DATASET)
    ]


async def build(api: Api, layout: Layout) -> None:
    """Create everything. Nodes must be registered; pods come up when kubelets work."""
    await create_all(api, namespaces(layout))
    await create_all(api, platform.platform(layout))
    await create_all(api, claims(layout))
    for pool in ("large", "small"):  # the wide ones first, so that they find whole servers
        for spec in sorted(layout.trainings, key=lambda spec: -spec.gpus):
            if spec.pool == pool:
                await create_all(api, training_objects.training(spec))


@asynccontextmanager
async def kept_free(api: Api, layout: Layout) -> AsyncIterator[None]:
    """Nothing is placed on the spare server while the block lasts; after it, what is evicted elsewhere may go there.

    Which server is left free would be the scheduler's choice else, and a scenario could break one that does nothing.
    """
    name = spare_of(layout)
    path = f"/api/v1/nodes/{name}"
    is_open = bool(name) and not (await api.call("GET", path))["spec"].get("unschedulable")
    if is_open:
        await api.patch(path, {"spec": {"unschedulable": True}})
    yield
    if is_open:
        await api.patch(path, {"spec": {"unschedulable": None}})


async def everything_runs(cache: ObjectCache, layout: Layout) -> None:
    """Return when every pod that the layout asks for runs. Raises UnfinishedError."""
    try:
        async with asyncio.timeout(PATIENCE.total_seconds()):
            while missing(cache, layout):
                await cache.changed.wait()
    except TimeoutError as error:
        raise UnfinishedError(
            f"after {PATIENCE} these are not up: {'; '.join(missing(cache, layout))}"
        ) from error


def missing(cache: ObjectCache, layout: Layout) -> list[str]:
    """What is not up yet, in words."""
    running: dict[str, int] = {}
    for pod in cache.all("Pod"):
        if (pod.get("status") or {}).get("phase") == "Running":
            where = pod["metadata"]["namespace"]
            running[where] = running.get(where, 0) + 1
    gpu_nodes = sum(spec.gpus > 0 for spec in layout.nodes)
    wanted = {"kube-system": 3, "monitoring": len(layout.nodes) + gpu_nodes + 1, "rook-ceph": 1}
    wanted |= {
        spec.namespace: spec.workers + spec.servers for spec in layout.trainings if not _is_over(cache, spec)
    }
    return [
        f"{where} has {running.get(where, 0)} of {count} pods"
        for where, count in wanted.items()
        if running.get(where, 0) < count
    ]


def _is_over(cache: ObjectCache, spec: TrainingSpec) -> bool:
    """Whether a training of an earlier run of this world has ended already."""
    job = cache.get("Job", spec.namespace, spec.job)
    held = {
        c["type"] for c in ((job or {}).get("status") or {}).get("conditions") or [] if c["status"] == "True"
    }
    return bool(held & {"Complete", "Failed", "FailureTarget", "Suspended"})
