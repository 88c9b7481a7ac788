"""Creation of the cluster's objects through the API: namespaces, platform, trainings. Repeating it is safe."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from datetime import timedelta

from demo.world.kube import objects, platform, training_objects
from demo.world.kube.api import Api, Object
from demo.world.kube.cache import ObjectCache
from demo.world.layout import Layout, TrainingSpec, spare_node

AT_ONCE = 16
READY_WITHIN = timedelta(seconds=90)


class ClusterNotReadyError(Exception):
    """The cluster was not ready in time. The text names the missing pods."""


async def create_all(api: Api, objs: Iterable[Object]) -> None:
    """Create these objects concurrently; existing ones are left unchanged."""
    limit = asyncio.Semaphore(AT_ONCE)

    async def one(obj: Object) -> None:
        async with limit:
            await api.create(objects.path_of(obj), obj)

    async with asyncio.TaskGroup() as tasks:
        for obj in objs:
            tasks.create_task(one(obj))


def namespaces(layout: Layout) -> list[Object]:
    """The namespaces of the platform and of every training."""
    objs = [objects.namespace(name) for name in ("kube-system", "kube-node-lease", "monitoring", "rook-ceph")]
    for spec in layout.trainings:
        labels = {"team": spec.team, "owner": spec.owner, "training": spec.name}
        notes = {"yardmaster.io/team": spec.team, "yardmaster.io/owner": spec.owner}
        objs.append(objects.namespace(spec.namespace, labels, notes))
    return objs


def claims(layout: Layout) -> list[Object]:
    return [
        obj
        for spec in layout.trainings
        if spec.namespace == "vision-detr"
        for obj in training_objects.dataset(spec.namespace, training_objects.DATASET)
    ]


async def build(api: Api, layout: Layout) -> None:
    """Create all objects. Nodes must be registered; pods start when the kubelets run."""
    await create_all(api, namespaces(layout))
    await create_all(api, platform.platform(layout))
    await create_all(api, claims(layout))
    for pool in ("large", "small"):  # most GPUs first, so that they fit on whole servers
        for spec in sorted(layout.trainings, key=lambda spec: -spec.gpus):
            if spec.pool == pool:
                await create_all(api, training_objects.training(spec))


@asynccontextmanager
async def spare_node_cordoned(api: Api, layout: Layout) -> AsyncIterator[None]:
    """Cordon the spare node for the duration of the block; evicted pods may go there afterwards.

    Otherwise the scheduler chooses which node stays free, and a scenario could break an idle one.
    """
    name = spare_node(layout)
    path = f"/api/v1/nodes/{name}"
    is_schedulable = bool(name) and not (await api.call("GET", path))["spec"].get("unschedulable")
    if is_schedulable:
        await api.patch(path, {"spec": {"unschedulable": True}})
    yield
    if is_schedulable:
        await api.patch(path, {"spec": {"unschedulable": None}})


async def wait_until_running(cache: ObjectCache, layout: Layout) -> None:
    """Return when every pod of the layout runs. Raises ClusterNotReadyError."""
    try:
        async with asyncio.timeout(READY_WITHIN.total_seconds()):
            while missing(cache, layout):
                await cache.changed.wait()
    except TimeoutError as error:
        raise ClusterNotReadyError(
            f"not ready after {READY_WITHIN}: {'; '.join(missing(cache, layout))}"
        ) from error


def missing(cache: ObjectCache, layout: Layout) -> list[str]:
    """Return a text for each namespace with missing pods."""
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
    """Whether a training of an earlier run of this world has ended."""
    job = cache.get("Job", spec.namespace, spec.job)
    conditions = {
        c["type"] for c in ((job or {}).get("status") or {}).get("conditions") or [] if c["status"] == "True"
    }
    return bool(conditions & {"Complete", "Failed", "FailureTarget", "Suspended"})
