"""A node whose GPUs are given by claims, on the look-alike or on a real control plane, and its kubelet."""

import asyncio
import uuid
from collections.abc import AsyncGenerator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from commands.core.context import Defaults
from commands.core.node_script import NodeJobDefaults
from commands.models import GpuLease
from tests.support.drained import Kubelets, kubeconfig_of, kubelets, quick, until
from tests.support.yard import Yard, yard_before

DRIVER = "gpu.nvidia.com"
CLAIMS = "/apis/resource.k8s.io/v1"
RULES = "/apis/resource.k8s.io/v1beta2/devicetaintrules"


def a_device(number: int, *, index: bool = True) -> dict[str, Any]:
    """Return a GPU as NVIDIA's driver lists it: without an index since 2025, and its name has the minor number."""
    attributes: dict[str, Any] = {"type": {"string": "gpu"}, "uuid": {"string": f"GPU-{number:04d}"}}
    if index:
        attributes["index"] = {"int": number}
    return {"name": f"gpu-{number}", "attributes": attributes}


@dataclass(kw_only=True)
class GpuStage:
    yard: Yard
    kube: Kubelets
    node: str
    is_real: bool
    log: bytearray = field(default_factory=bytearray)

    async def list_devices(self, *devices: Any) -> None:
        """Let the driver list the devices of the node, and wait until the bot sees them."""
        spec = {
            "driver": DRIVER,
            "nodeName": self.node,
            "pool": {"name": self.node, "generation": 1, "resourceSliceCount": 1},
            "devices": list(devices),
        }
        body = {"metadata": {"name": self.node}, "spec": spec}
        await self.kube.call("POST", f"{CLAIMS}/resourceslices", body)
        await self.yard.seen(lambda: bool(self.yard.cluster.inventory().whole_gpus_on(self.node)))

    async def give(self, pod: str, *devices: str) -> None:
        """Run a pod that a claim has given these devices, as the scheduler does."""
        path = self.kube.path("resourceclaims", api=CLAIMS)
        exactly = {"deviceClassName": DRIVER, "count": len(devices)}
        request = {"name": "gpu", "exactly": exactly}
        made = {"metadata": {"name": pod}, "spec": {"devices": {"requests": [request]}}}
        await self.kube.call("POST", path, made)
        claims = [{"name": "gpu", "resourceClaimName": pod}]
        await self.kube.add_pod(pod, self.node, owned=True, resourceClaims=claims)
        uid = (await self.kube.call("GET", self.kube.path("pods", pod)))["metadata"]["uid"]
        results = [{"request": "gpu", "driver": DRIVER, "pool": self.node, "device": one} for one in devices]
        status = {
            "allocation": {"devices": {"results": results}},
            "reservedFor": [{"resource": "pods", "name": pod, "uid": uid}],
        }
        await self.kube.call("PATCH", f"{path}/{pod}/status", {"status": status})
        await self.yard.seen(
            lambda: any(
                one.metadata.name == pod and self.yard.cluster.inventory().gpus_of(one)
                for one in self.yard.cluster.inventory().pods_on(self.node)
            )
        )

    async def rules(self) -> list[Any]:
        found = (await self.kube.call("GET", RULES))["items"]
        return [one for one in found if one["spec"]["deviceSelector"].get("pool") == self.node]

    async def leases(self) -> list[GpuLease]:
        async with self.yard.store.read() as snapshot:
            return list(await snapshot.rows(GpuLease).find())

    async def rules_seen(self, count: int) -> None:
        await self.yard.seen(lambda: len(self.yard.cluster.inventory().device_taint_rules) == count)

    async def ended(self, *codes: int, task: "asyncio.Task[Any] | None" = None) -> list[Any]:
        """End the pod of each Job in turn with a code; return the Jobs."""
        jobs: dict[str, Any] = {}

        async def another() -> bool:
            if task is not None and task.done():
                task.result()
            for job in (await self.kube.call("GET", self.kube.path("jobs", api="/apis/batch/v1")))["items"]:
                if job["metadata"]["uid"] not in jobs and await self._running(job):
                    jobs[job["metadata"]["uid"]] = job
                    return True
            return False

        for code in codes:
            await until(another)
            await self.kube.end(await self._running(list(jobs.values())[-1]), code)
        return list(jobs.values())

    async def _running(self, job: Any) -> str:
        """Return the pod of the Job that runs; empty if none does."""
        found = await self.kube.pods(self.node)
        uid = job["metadata"]["uid"]
        return next(
            (
                str(one["metadata"]["name"])
                for one in found
                if one["status"].get("phase") == "Running"
                and any(owner["uid"] == uid for owner in one["metadata"].get("ownerReferences", ()))
            ),
            "",
        )

    async def claims(self) -> list[Any]:
        found = (await self.kube.call("GET", self.kube.path("resourceclaims", api=CLAIMS)))["items"]
        return [one for one in found if one["metadata"]["name"].startswith("yardmaster-")]

    async def pods(self) -> list[str]:
        return [one["metadata"]["name"] for one in await self.kube.pods(self.node)]


def _no_jobs(jobs: NodeJobDefaults) -> Defaults:
    return Defaults(node_jobs=jobs)


@asynccontextmanager
async def gpu_stage(
    request: pytest.FixtureRequest,
    folder: Path,
    *,
    policy: Callable[[NodeJobDefaults], Defaults] = _no_jobs,
) -> AsyncGenerator[GpuStage]:
    """Yield the stage on the server that the fixture's parameter names."""
    mark, log = uuid.uuid4().hex[:6], bytearray()
    node, is_real = f"dra-{mark}", getattr(request, "param", "") == "real"
    async with AsyncExitStack() as stack:
        config = await stack.enter_async_context(kubeconfig_of(request, folder, logs=lambda *_: bytes(log)))
        kube = await stack.enter_async_context(kubelets(config, f"dra-{mark}"))
        await kube.add_node(node)
        jobs = NodeJobDefaults(namespace=kube.namespace, image="registry.example/tools:1")
        yard = await stack.enter_async_context(yard_before(config, policy=policy(jobs), pause=quick))
        await yard.seen(lambda: node in yard.cluster.inventory().nodes)
        made = GpuStage(yard=yard, kube=kube, node=node, is_real=is_real, log=log)
        try:
            yield made
        finally:
            rules = [f"{RULES}/{one['metadata']['name']}" for one in await made.rules()]
            slices = f"{CLAIMS}/resourceslices/{node}"
            await kube.clear((node,), *rules, slices)
