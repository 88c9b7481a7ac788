"""Fixtures of cache tests: a replica built from changes, a scripted API server, fast timers."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from collectors.cluster.cache import ClusterCache, ObjectChange, ReflectorTiming

# It meets every edge soon: the end of a watch, the end of a page, a kind that is not there.
QUICK = ReflectorTiming(watch=2, grace=0.5, first_wait=0.01, longest_wait=0.05, refused_wait=0.05, page=7)
# For tests of what reads the cache: half of the kinds are not there, and to ask for them is most of the work.
CALM = ReflectorTiming(first_wait=0.01, longest_wait=0.05, refused_wait=0.5)


class Replica:
    """Applies the changes one by one, and records in `missed` those that do not fit its state."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.versions: dict[str, str] = {}
        self.missed: list[ObjectChange] = []
        self.count = 0

    def __call__(self, change: ObjectChange) -> None:
        if change.kind != self.kind:
            return
        self.count += 1
        known = self.versions.get(change.key)
        is_known = known is not None
        if change.after is None:
            if not is_known:
                self.missed.append(change)
            self.versions.pop(change.key, None)
            return
        if (change.before is not None) != is_known or (
            change.before is not None and change.before.metadata.resource_version != known
        ):
            self.missed.append(change)
        self.versions[change.key] = change.after.metadata.resource_version


async def until(cache: ClusterCache, holds: Callable[[], bool], *, seconds: float = 20) -> None:
    """Wait until the condition holds. Raises TimeoutError with the cache's status."""
    try:
        async with asyncio.timeout(seconds):
            while not holds():  # noqa: ASYNC110 - a state has no event of its own
                await asyncio.sleep(0.01)
    except TimeoutError:
        raise TimeoutError(f"the condition never held: {cache.status()}") from None


Script = Callable[[web.Request, web.StreamResponse], Awaitable[None]]


@dataclass
class ScriptedServer:
    """An API server of one kind, Nodes: lists `objects` and plays one script for each watch, in order.

    After the last script a watch stays open until the client disconnects.
    """

    objects: dict[str, dict[str, Any]] = field(default_factory=dict)
    scripts: list[Script] = field(default_factory=list)
    version: int = 100
    lists: int = 0
    watched_from: list[str] = field(default_factory=list)

    def put(self, name: str, **labels: str) -> dict[str, Any]:
        self.version += 1
        made = {
            "metadata": {
                "name": name,
                "uid": f"uid-{name}",
                "resourceVersion": str(self.version),
                "labels": labels,
            }
        }
        self.objects[name] = made
        return made

    def drop(self, name: str) -> dict[str, Any]:
        self.version += 1
        gone = self.objects.pop(name)
        gone["metadata"]["resourceVersion"] = str(self.version)
        return gone

    async def __call__(self, request: web.Request) -> web.StreamResponse:
        if "watch" not in request.query:
            self.lists += 1
            items = list(self.objects.values())
            body = {"metadata": {"resourceVersion": str(self.version)}, "items": items}
            return web.Response(body=_bytes_of(body), content_type="application/json")
        self.watched_from.append(request.query["resourceVersion"])
        response = web.StreamResponse()
        await response.prepare(request)
        if self.scripts:
            await self.scripts.pop(0)(request, response)
        else:
            await asyncio.sleep(60)
        return response


async def tell(response: web.StreamResponse, type_: str, thing: Mapping[str, Any]) -> None:
    await response.write(_bytes_of({"type": type_, "object": thing}) + b"\n")


def _bytes_of(body: Mapping[str, Any]) -> bytes:
    r"""Text as it is, and bytes that are no text too, which are `\udc80` to `\udcff` here."""
    return json.dumps(body, ensure_ascii=False).encode(errors="surrogateescape")
