"""Cache of the API objects that the world uses: listed once, then watched."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

import aiohttp

from demo.world.kube.api import Api, Object, RefusedError

PATHS = {
    "Node": "/api/v1/nodes",
    "Namespace": "/api/v1/namespaces",
    "Pod": "/api/v1/pods",
    "Service": "/api/v1/services",
    "Endpoints": "/api/v1/endpoints",
    "ConfigMap": "/api/v1/namespaces/kube-system/configmaps",
    "PersistentVolumeClaim": "/api/v1/persistentvolumeclaims",
    "PersistentVolume": "/api/v1/persistentvolumes",
    "Deployment": "/apis/apps/v1/deployments",
    "ReplicaSet": "/apis/apps/v1/replicasets",
    "DaemonSet": "/apis/apps/v1/daemonsets",
    "StatefulSet": "/apis/apps/v1/statefulsets",
    "Job": "/apis/batch/v1/jobs",
}

Key = tuple[str, str]  # (namespace or "", name)


def key_of(obj: Object) -> Key:
    meta = obj["metadata"]
    return meta.get("namespace", ""), meta["name"]


@dataclass(slots=True)
class ObjectCache:
    """Objects by kind and key. `on_change` is called with the kind, the event type and the object."""

    api: Api
    on_change: Callable[[str, str, Object], None]
    objects: dict[str, dict[Key, Object]] = field(default_factory=lambda: {kind: {} for kind in PATHS})
    changed: asyncio.Event = field(default_factory=asyncio.Event)  # set and cleared at once on every change
    _listed: dict[str, asyncio.Event] = field(
        default_factory=lambda: {kind: asyncio.Event() for kind in PATHS}
    )

    def all(self, kind: str) -> Iterable[Object]:
        return self.objects[kind].values()

    def get(self, kind: str, namespace: str, name: str) -> Object | None:
        return self.objects[kind].get((namespace, name))

    async def ready(self) -> None:
        """Return when every kind is listed."""
        for event in self._listed.values():
            await event.wait()

    async def run(self) -> None:
        """Watch all kinds until cancelled."""
        async with asyncio.TaskGroup() as tasks:
            for kind in PATHS:
                tasks.create_task(self._follow(kind), name=f"world cache {kind}")

    async def _follow(self, kind: str) -> None:
        version, pause = "", 0.2
        while True:
            try:
                if not version:
                    version = await self._list(kind)
                async for event in self.api.watch(PATHS[kind], version):
                    obj = event["object"]
                    version = obj["metadata"]["resourceVersion"]
                    if event["type"] != "BOOKMARK":
                        self._apply(kind, event["type"], obj)
                    pause = 0.2
            except RefusedError:
                version = ""  # too old or forbidden: list again
                await asyncio.sleep(pause)
                pause = min(5.0, pause * 2)
            except (aiohttp.ClientError, TimeoutError, OSError, ValueError):
                await asyncio.sleep(pause)
                pause = min(5.0, pause * 2)

    async def _list(self, kind: str) -> str:
        answer = await self.api.call("GET", PATHS[kind])
        fresh = {key_of(obj): obj for obj in answer["items"]}
        for gone in [obj for key, obj in self.objects[kind].items() if key not in fresh]:
            self._apply(kind, "DELETED", gone)
        for obj in fresh.values():
            self._apply(kind, "MODIFIED" if key_of(obj) in self.objects[kind] else "ADDED", obj)
        self._listed[kind].set()
        return str(answer["metadata"]["resourceVersion"])

    def _apply(self, kind: str, what: str, obj: Object) -> None:
        if what == "DELETED":
            self.objects[kind].pop(key_of(obj), None)
        else:
            self.objects[kind][key_of(obj)] = obj
        self.on_change(kind, what, obj)
        self.changed.set()
        self.changed.clear()
