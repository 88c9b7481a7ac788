"""Requests of the suite to an API server, and the objects that it sends."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import aiohttp
import msgspec
import pytest

Json = dict[str, Any]
_PATCHES = {
    "json": "application/json-patch+json",
    "merge": "application/merge-patch+json",
    "strategic": "application/strategic-merge-patch+json",
}
PODS = "/api/v1/namespaces/{ns}/pods"
MAPS = "/api/v1/namespaces/{ns}/configmaps"
DEPLOYMENTS = "/apis/apps/v1/namespaces/{ns}/deployments"
SETS = "/apis/apps/v1/namespaces/{ns}/replicasets"
JOBS = "/apis/batch/v1/namespaces/{ns}/jobs"
BOT = "system:serviceaccount:yardmaster:yardmaster"
_WAIT = 30.0  # seconds; a bound, not a measure


@dataclass(frozen=True, slots=True)
class Answer:
    """A response: the HTTP status, the decoded body, the headers."""

    code: int
    body: Any
    headers: dict[str, str]

    @property
    def names(self) -> list[str]:
        return [item["metadata"]["name"] for item in self.body["items"]]

    @property
    def version(self) -> str:
        return str(self.body["metadata"]["resourceVersion"])

    @property
    def cause(self) -> Json:
        first: Json = self.body["details"]["causes"][0]
        return first


@dataclass(slots=True)
class Api:
    """Requests to one API server, as the admin or as the bot."""

    session: aiohttp.ClientSession
    tokens: dict[str, str]
    space: str
    forget: Callable[[], Awaitable[None]]
    nodes: list[str] = field(default_factory=list)
    undo: list[str] = field(default_factory=list)
    kind: str = ""

    async def call(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        patch: str = "",
        who: str = "admin",
        headers: Mapping[str, str] | None = None,
        **query: Any,
    ) -> Answer:
        """Send one request; `{ns}` in the path is the test's own namespace."""
        sent = dict(headers or {})
        if who:
            sent["Authorization"] = f"Bearer {self.tokens.get(who, who)}"
        content = None
        if body is not None:
            content = msgspec.json.encode(body)
            sent["Content-Type"] = _PATCHES[patch] if patch else "application/json"
        async with self.session.request(
            method, path.replace("{ns}", self.space), data=content, headers=sent, params=query
        ) as response:
            raw = await response.read()
            decoded = msgspec.json.decode(raw) if response.content_type == "application/json" else raw
            return Answer(response.status, decoded, dict(response.headers))

    async def get(self, path: str, **query: Any) -> Answer:
        return await self.call("GET", path, **query)

    async def make(self, path: str, body: Json, **query: Any) -> Json:
        """Create an object; it must be accepted."""
        answer = await self.call("POST", path, body, **query)
        assert answer.code == 201, answer.body
        created: Json = answer.body
        return created

    async def change(self, path: str, body: Any, patch: str = "strategic", **query: Any) -> Json:
        """Patch an object; the patch must be accepted."""
        answer = await self.call("PATCH", path, body, patch=patch, **query)
        assert answer.code == 200, answer.body
        changed: Json = answer.body
        return changed

    async def until(self, what: str, holds: Callable[[], Awaitable[Any]]) -> Any:
        """Return the first true value of `holds`; fail with `what` at the limit."""
        try:
            async with asyncio.timeout(_WAIT):
                while True:
                    if found := await holds():
                        return found
                    await asyncio.sleep(0.05)
        except TimeoutError:
            pytest.fail(f"waited {_WAIT:.0f} s for {what}")

    async def condition(self, path: str, kind: str, status: str = "True") -> Json:
        """Wait for a condition of an object and return it."""

        async def check() -> Json | None:
            answer = await self.get(path)
            for found in (answer.body.get("status") or {}).get("conditions") or ():
                if found["type"] == kind and found["status"] == status:
                    return dict(found)
            return None

        found: Json = await self.until(f"{kind}={status} on {path}", check)
        return found

    async def gone(self, path: str) -> None:
        """Wait until a path gives 404."""

        async def check() -> bool:
            return (await self.get(path)).code == 404

        await self.until(f"{path} to be deleted", check)

    async def ready_node(
        self, name: str, *, labels: Json | None = None, resources: Json | None = None
    ) -> str:
        """Create a Ready node and wait until pods can be bound to it; it is deleted after the test."""
        name = f"{name}-{self.space}"
        self.nodes.append(name)
        await self.make("/api/v1/nodes", {"metadata": {"name": name, "labels": labels or {}}})
        amounts = {"cpu": "64", "memory": "512Gi", "pods": "110", **(resources or {})}
        ready = {"type": "Ready", "status": "True", "reason": "KubeletReady", "message": "set by a test"}
        status = {"capacity": amounts, "allocatable": amounts, "conditions": [ready]}
        await self.change(f"/api/v1/nodes/{name}/status", {"status": status})

        async def untainted() -> bool:
            return not (await self.get(f"/api/v1/nodes/{name}")).body["spec"].get("taints")

        await self.until(f"node {name} without taints", untainted)
        return name

    async def bound(self, name: str, node: str) -> None:
        """Wait until the scheduler has bound the pod to this node."""

        async def check() -> bool:
            found = await self.get(f"/api/v1/namespaces/{{ns}}/pods/{name}")
            return bool(found.body["spec"].get("nodeName") == node)

        await self.until(f"{name} on {node}", check)

    async def run(self, name: str, *, ip: str = "10.9.0.1", ready: bool = True) -> None:
        """Act as the kubelet: the pod runs."""
        value = "True" if ready else "False"
        status = {
            "phase": "Running",
            "podIP": ip,
            "podIPs": [{"ip": ip}],
            "conditions": [{"type": "Ready", "status": value}, {"type": "ContainersReady", "status": value}],
        }
        await self.change(f"/api/v1/namespaces/{{ns}}/pods/{name}/status", {"status": status})

    async def end(self, name: str, *, code: int = 0) -> None:
        """Act as the kubelet: the pod's container ended."""
        ended = {"exitCode": code, "reason": "Error" if code else "Completed"}
        container = {"name": "main", "image": "x", "imageID": "", "ready": False, "restartCount": 0,
                     "state": {"terminated": ended}}  # fmt: skip
        status = {"phase": "Failed" if code else "Succeeded", "containerStatuses": [container],
                  "conditions": [{"type": "Ready", "status": "False"}]}  # fmt: skip
        await self.change(f"/api/v1/namespaces/{{ns}}/pods/{name}/status", {"status": status})

    async def status(self, path: str, **wanted: Any) -> Json:
        """Wait until the status has these values; None means that the key is missing."""

        async def check() -> Json | None:
            status = (await self.get(path)).body.get("status") or {}
            return status if all(status.get(key) == value for key, value in wanted.items()) else None

        found: Json = await self.until(f"{wanted} on {path}", check)
        return found

    async def pods(self, labels: str, count: int) -> list[Json]:
        """Wait until this many pods with these labels exist, none of them terminating, and return them."""

        async def check() -> list[Json] | None:
            answer = await self.get("/api/v1/namespaces/{ns}/pods", labelSelector=labels)
            staying = [p for p in answer.body["items"] if "deletionTimestamp" not in p["metadata"]]
            return staying if len(staying) == count else None

        if count == 0:

            async def none() -> bool:
                return await check() == []

            await self.until(f"no pods with {labels}", none)
            return []
        found: list[Json] = await self.until(f"{count} pods with {labels}", check)
        return found


def pod(name: str, *, labels: Json | None = None, requests: Json | None = None, **spec: Any) -> Json:
    """Return a pod with one container; `requests` are also its limits."""
    container: Json = {"name": "main", "image": "registry.test/x:1"}
    if requests:
        container["resources"] = {"requests": requests, "limits": requests}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "labels": labels or {"app": name}},
        "spec": {"containers": [container], **spec},
    }


def template(app: str, **spec: Any) -> Json:
    """Return a pod template with one container."""
    made = pod(app, **spec)
    return {"metadata": {"labels": {"app": app}}, "spec": made["spec"]}


def workload(kind: str, name: str, **spec: Any) -> Json:
    """Return a Deployment, ReplicaSet, StatefulSet or DaemonSet; its name is also its app label."""
    body = {"selector": {"matchLabels": {"app": name}}, "template": template(name), **spec}
    return {"apiVersion": "apps/v1", "kind": kind, "metadata": {"name": name}, "spec": body}


def names_of(pods: list[Json]) -> list[str]:
    return [str(one["metadata"]["name"]) for one in pods]
