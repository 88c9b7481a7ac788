"""A cluster whose nodes are drained in tests, through the API of the look-alike or of a real control plane.

Neither has kubelets: `Kubelets` starts the pods that are bound, and ends those that are deleted.
"""

import asyncio
import json
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from collectors.facts.results import SourceError
from collectors.sources.kubernetes.client import KubernetesClient, KubernetesOptions
from commands.execution.cluster_writer import MERGE_PATCH
from demo.lookalikes.kubernetes import KubernetesLookalike, Settings
from demo.lookalikes.kubernetes.logs import Logs
from tests.real.servers.kubernetes import RESERVED
from tests.support.yard import closed

_ENDED = "2026-11-21T11:00:00Z"
_RUNNING = {
    "phase": "Running",
    "startTime": "2026-11-21T09:00:00Z",
    "conditions": [{"type": "Ready", "status": "True"}, {"type": "ContainersReady", "status": "True"}],
}


ON_BOTH_SERVERS = [
    pytest.param("look-alike", id="look-alike"),
    pytest.param("real", id="real", marks=[pytest.mark.real, pytest.mark.xdist_group("real_kubernetes")]),
]


async def quick(seconds: float) -> None:
    """Pause a fiftieth of the time."""
    await asyncio.sleep(seconds / 50)


@asynccontextmanager
async def kubeconfig_of(
    request: pytest.FixtureRequest, folder: Path, *, logs: Logs | None = None
) -> AsyncGenerator[Path]:
    """The look-alike, with these logs of containers, or the real control plane, as the fixture's parameter says."""
    if getattr(request, "param", "") == "real":
        yield request.getfixturevalue("real_kubernetes").kubeconfig
        return
    async with KubernetesLookalike.running(settings=Settings(node_grace=None), logs=logs) as kube:
        yield kube.kubeconfig(folder / "config")


async def until(holds: Callable[[], Awaitable[bool]], *, seconds: float = 30) -> None:
    """Poll until the condition holds. Raises TimeoutError after that many seconds."""
    async with asyncio.timeout(seconds):
        while not await holds():  # noqa: ASYNC110 - there is no event to wait for
            await asyncio.sleep(0.05)


@dataclass(kw_only=True)
class Kubelets:
    """The cluster's API as an administrator, and its kubelets while `running`."""

    client: KubernetesClient
    namespace: str
    most_terminating: int = 0  # pods at the same time
    ends_pods: bool = True
    starts_pods: bool = True
    every: float = 0.02  # seconds between two looks
    ended: list[str] = field(default_factory=list)

    @property
    def toleration(self) -> Any:
        """What a pod's spec needs to be bound to the nodes of this namespace."""
        return {"key": RESERVED, "operator": "Equal", "value": self.namespace, "effect": "NoSchedule"}

    async def call(self, method: str, path: str, body: Any = None) -> Any:
        kind = MERGE_PATCH if method == "PATCH" else ""
        return json.loads(await self.client.call(method, path, body=body, content_type=kind))

    async def clear(self, nodes: Iterable[str] = (), *more: str) -> None:
        """Delete the namespace, these nodes, and what is at these paths; what is gone already stays gone."""
        for path in (
            f"/api/v1/namespaces/{self.namespace}",
            *(f"/api/v1/nodes/{node}" for node in nodes),
            *more,
        ):
            with suppress(SourceError):
                await self.call("DELETE", path)

    def path(self, kind: str, name: str = "", *, api: str = "/api/v1") -> str:
        return f"{api}/namespaces/{self.namespace}/{kind}" + (f"/{name}" if name else "")

    async def add_node(self, name: str, **resources: str) -> None:
        """Create a ready node, and wait until this namespace's pods can be bound to it.

        It is tainted for all others: what other tests left pending on a real control plane stays away.
        """
        taint = {"key": RESERVED, "value": self.namespace, "effect": "NoSchedule"}
        await self._add_node(name, {"taints": [taint]}, {}, resources)

    async def add_open_node(self, name: str, *, pool: str, **resources: str) -> None:
        """Create a ready node with the label `pool`, and wait until pods that select it can be bound to it."""
        await self._add_node(name, {}, {"pool": pool}, resources)

    async def _add_node(
        self, name: str, spec: Any, labels: Mapping[str, str], resources: Mapping[str, str]
    ) -> None:
        meta = {"name": name, "labels": {"kubernetes.io/hostname": name, **labels}}
        await self.call("POST", "/api/v1/nodes", {"metadata": meta, "spec": spec})
        amounts = {"cpu": "64", "memory": "512Gi", "ephemeral-storage": "1Ti", "pods": "110", **resources}
        ready = {"type": "Ready", "status": "True", "reason": "KubeletReady", "message": "made by a test"}
        status = {"capacity": amounts, "allocatable": amounts, "conditions": [ready]}
        await self.call("PATCH", f"/api/v1/nodes/{name}/status", {"status": status})

        async def open_to_us() -> bool:
            left = [one["key"] for one in (await self.node(name))["spec"].get("taints", ())]
            return left == [one["key"] for one in spec.get("taints", ())]

        await until(open_to_us)

    async def node(self, name: str) -> Any:
        return await self.call("GET", f"/api/v1/nodes/{name}")

    async def pods(self, node: str) -> list[Any]:
        """Return the pods on a node that are not terminating, by name."""
        found = (await self.call("GET", self.path("pods")))["items"]
        here = [one for one in found if one["spec"].get("nodeName") == node]
        return sorted(
            (one for one in here if "deletionTimestamp" not in one["metadata"]),
            key=lambda one: one["metadata"]["name"],
        )

    async def add_pod(self, name: str, node: str, *, owned: bool = False, **parts: Any) -> None:
        """Create a pod that runs on a node. `parts`: its spec, labels and annotations; `owned`: by a controller."""
        meta = {
            "name": name,
            "labels": parts.pop("labels", {}),
            "annotations": parts.pop("annotations", {}),
            "ownerReferences": [await self._owner()] if owned else [],
        }
        container = {"name": "main", "image": "registry.example/main:1", **parts.pop("container", {})}
        spec = {"nodeName": node, "containers": [container], **parts}
        await self.call("POST", self.path("pods"), {"metadata": meta, "spec": spec})

        async def running() -> bool:
            found = await self.call("GET", self.path("pods", name))
            return bool(found["status"].get("phase") == "Running")

        await until(running)

    async def _owner(self) -> Any:
        """Return a controller that exists, so that the pod is not collected, and that manages nothing."""
        path = self.path("configmaps")
        with suppress(SourceError):
            await self.call("POST", path, {"metadata": {"name": "owner"}})
        uid = (await self.call("GET", f"{path}/owner"))["metadata"]["uid"]
        return {"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": uid, "controller": True}

    async def add_daemonset(self, name: str, node: str) -> None:
        """Create a DaemonSet with a pod on one node."""
        labels = {"app": name}
        pod = {
            "nodeSelector": {"kubernetes.io/hostname": node},
            "tolerations": [self.toleration],
            "containers": [{"name": "main", "image": "registry.example/agent:1"}],
        }
        template = {"metadata": {"labels": labels}, "spec": pod}
        body = {
            "metadata": {"name": name},
            "spec": {"selector": {"matchLabels": labels}, "template": template},
        }
        await self.call("POST", self.path("daemonsets", api="/apis/apps/v1"), body)

    async def started(self, name: str, **status: Any) -> None:
        await self.call("PATCH", self.path("pods", f"{name}/status"), {"status": {**_RUNNING, **status}})

    async def add_deployment(self, name: str, replicas: int, **spec: Any) -> None:
        """Create a Deployment."""
        labels = {"app": name}
        template = {
            "metadata": {"labels": labels},
            "spec": {
                "containers": [{"name": "main", "image": "registry.example/main:1"}],
                "tolerations": [self.toleration],
                **spec,
            },
        }
        body = {"replicas": replicas, "selector": {"matchLabels": labels}, "template": template}
        await self.call(
            "POST",
            self.path("deployments", api="/apis/apps/v1"),
            {"metadata": {"name": name}, "spec": body},
        )

    async def add_training(
        self, name: str, node: str, *, gpus: int, limit: Mapping[str, int] | None = None
    ) -> None:
        """Create a Job of ana with one pod for the node, and wait until that runs.

        `limit`: fields of its spec that say how often it may fail.
        """
        labels = {"training": name, "owner": "ana"}
        container = {
            "name": "main",
            "image": "i",
            "resources": {"limits": {"nvidia.com/gpu": str(gpus)}},
        }
        pod = {
            "restartPolicy": "Never",
            "nodeSelector": {"kubernetes.io/hostname": node},
            "tolerations": [self.toleration],
            "containers": [container],
        }
        template = {"metadata": {"labels": labels}, "spec": pod}
        body = {"metadata": {"name": name, "labels": labels}, "spec": {**(limit or {}), "template": template}}
        await self.call("POST", self.path("jobs", api="/apis/batch/v1"), body)

        async def running() -> bool:
            return any(
                one["metadata"].get("labels", {}).get("training") == name
                and one["status"].get("phase") == "Running"
                for one in await self.pods(node)
            )

        await until(running)

    async def until_running(self, node: str, count: int) -> None:
        """Wait until exactly this many pods run on the node."""

        async def running() -> bool:
            return (
                len([one for one in await self.pods(node) if one["status"].get("phase") == "Running"])
                == count
            )

        await until(running)

    async def add_budget(self, name: str, at_least: int, **labels: str) -> None:
        """Create a PodDisruptionBudget, and wait until its controller has processed it."""
        spec = {"minAvailable": at_least, "selector": {"matchLabels": labels}}
        path = self.path("poddisruptionbudgets", api="/apis/policy/v1")
        await self.call("POST", path, {"metadata": {"name": name}, "spec": spec})

        async def processed() -> bool:
            return bool(
                (await self.call("GET", f"{path}/{name}")).get("status", {}).get("observedGeneration")
            )

        await until(processed)

    async def end(self, pod: str, code: int) -> None:
        """End the container of a pod with this exit code."""
        end = {"exitCode": code, "reason": "Error" if code else "Completed", "finishedAt": _ENDED}
        container = {"name": "main", "ready": False, "restartCount": 0, "image": "i", "imageID": "i"}
        statuses = [{**container, "state": {"terminated": {**end, "startedAt": _RUNNING["startTime"]}}}]
        status = {"phase": "Failed" if code else "Succeeded", "containerStatuses": statuses}
        await self.call("PATCH", self.path("pods", f"{pod}/status"), {"status": status})

    async def run(self) -> None:
        """Start pods that are bound and end pods that are deleted, until cancelled."""
        while True:
            with suppress(SourceError):  # another client was faster
                await self._work()
            await asyncio.sleep(self.every)

    async def _work(self) -> None:
        found = (await self.call("GET", self.path("pods")))["items"]
        terminating = [one["metadata"]["name"] for one in found if "deletionTimestamp" in one["metadata"]]
        self.most_terminating = max(self.most_terminating, len(terminating))
        for one in found:
            name = one["metadata"]["name"]
            if name in terminating and self.ends_pods:
                await self.call("DELETE", self.path("pods", name), {"gracePeriodSeconds": 0})
                self.ended.append(name)
            elif self.starts_pods and one["spec"].get("nodeName") and one["status"].get("phase") == "Pending":
                await self.started(name)


@asynccontextmanager
async def kubelets(
    kubeconfig: Path, namespace: str, *, makes_namespace: bool = True
) -> AsyncGenerator[Kubelets]:
    """Yield the kubelets of a cluster, running, for the pods of a namespace: a new one, or one that is made later."""
    client = await KubernetesClient.connect(KubernetesOptions(kubeconfig=str(kubeconfig)))
    made = Kubelets(client=client, namespace=namespace)
    if makes_namespace:
        await made.call("POST", "/api/v1/namespaces", {"metadata": {"name": namespace}})
    async with asyncio.TaskGroup() as group:
        task = group.create_task(made.run())
        try:
            yield made
        finally:
            task.cancel()
            await asyncio.wait((task,))
            await closed(client)
