"""An API server in memory for lists and watches in virtual time: its watches break as those of a network do."""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from collectors.facts.results import SourceError
from collectors.sources.kubernetes.api_status import error_of
from collectors.sources.kubernetes.client import KubernetesClient

PODS, NODES = "/api/v1/pods", "/api/v1/nodes"
_GONE = {"kind": "Status", "code": 410, "reason": "Expired", "message": "too old resource version"}


@dataclass
class MemoryApi(KubernetesClient):
    """The server and the client of it.

    `refuses_watches`: how many it refuses with 410. `expires_while_paging`: how many pages after the first it refuses
    so. `silence_while_paging`: for so many seconds it falls silent at the next page after a first. `hangs_up`: it ends
    each watch at once, with nothing sent. `is_silent`: it answers nothing.
    """

    where: str = "memory"
    watches: Any = None
    version: int = 100
    forgotten: int = 0  # watches and pages of older versions get 410
    refuses_watches: int = 0
    hangs_up: bool = False
    is_silent: bool = False
    expires_while_paging: int = 0
    silence_while_paging: float = 0.0
    last_sent: float = 0.0  # by the loop's clock
    written: list[tuple[int, dict[str, Any]]] = field(default_factory=list)
    objects: dict[str, dict[str, dict[str, Any]]] = field(default_factory=lambda: {PODS: {}, NODES: {}})
    _snapshots: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    _wakers: set[asyncio.Event] = field(default_factory=set)
    _ends: int = 0
    _stalls: int = 0
    _bookmarks: int = 0

    # What happens in the cluster, and to its watches.

    def put(self, path: str, name: str) -> None:
        self.version += 1
        meta = {"name": name, "uid": f"uid-{name}", "resourceVersion": str(self.version)}
        type_ = "MODIFIED" if name in self.objects[path] else "ADDED"
        self.objects[path][name] = made = {"metadata": meta}
        self._write(path, type_, made)

    def drop(self, path: str, name: str) -> None:
        self.version += 1
        gone = self.objects[path].pop(name)["metadata"]
        self._write(path, "DELETED", {"metadata": {**gone, "resourceVersion": str(self.version)}})

    def compact(self) -> None:
        self.version += 1
        self.forgotten = self.version

    def end_watches(self) -> None:
        self._ends += 1
        self._wake()

    def stall_watches(self) -> None:
        self._stalls += 1
        self._wake()

    def send_bookmarks(self) -> None:
        self._bookmarks += 1
        self._wake()

    def versions(self, path: str) -> dict[str, str]:
        return {name: one["metadata"]["resourceVersion"] for name, one in self.objects[path].items()}

    def fall_silent(self, is_on: bool) -> None:
        self.is_silent = is_on
        self._wake()

    def hang_up_watches(self, is_on: bool) -> None:
        self.hangs_up = is_on
        self._wake()

    def _write(self, path: str, type_: str, thing: dict[str, Any]) -> None:
        self.written.append((self.version, {"type": type_, "object": thing, "path": path}))
        self._wake()

    def _wake(self) -> None:
        for waker in self._wakers:
            waker.set()

    # What it answers.

    async def call(self, method: str, path: str, **request: Any) -> bytes:
        await asyncio.sleep(0.01)
        if self.silence_while_paging and "continue" in request["params"]:
            self.fall_silent(True)
            asyncio.get_running_loop().call_later(self.silence_while_paging, self.fall_silent, False)
            self.silence_while_paging = 0
        if self.is_silent:
            await asyncio.sleep(10)
            raise SourceError("memory did not answer completely within 10 s")
        params = request["params"]
        if token := params.get("continue", ""):
            self.expires_while_paging -= (expires := self.expires_while_paging > 0)
            if expires or int(token.partition(":")[0]) < self.forgotten:
                raise error_of(410, json.dumps(_GONE).encode(), {}, self.where, f"GET {path}")
        else:
            token = f"{self.version}:{path}:0"
            self._snapshots[f"{self.version}:{path}"] = list(self.objects[path].values())
        self.last_sent = asyncio.get_running_loop().time()
        snapshot, _, start = token.rpartition(":")
        found, end = self._snapshots[snapshot], int(start) + int(params["limit"])
        more = {"continue": f"{snapshot}:{end}"} if end < len(found) else {}
        meta = {"resourceVersion": snapshot.partition(":")[0], **more}
        return json.dumps({"metadata": meta, "items": found[int(start) : end]}).encode()

    async def open(self, api: Any, request: Any, *, seconds: float) -> Any:
        deadline = asyncio.get_running_loop().time() + seconds
        await asyncio.sleep(0.01)
        if self.is_silent:
            await asyncio.sleep(seconds)
            raise TimeoutError
        return _Response(self, request, deadline)

    async def stream(self, path: str, position: int, until: float, deadline: float) -> AsyncIterator[bytes]:
        """Yield the lines of a watch until the server ends it; a stalled one ends at the client's deadline."""
        loop, waker = asyncio.get_running_loop(), asyncio.Event()
        ends, stalls, bookmarks = self._ends, self._stalls, self._bookmarks
        self._wakers.add(waker)
        try:
            while True:
                if self.is_silent or self._stalls != stalls:
                    await asyncio.sleep(deadline - loop.time())
                    raise TimeoutError
                if self.hangs_up or self._ends != ends or loop.time() > until - 0.001:
                    self.last_sent = loop.time()
                    return
                if position < self.forgotten:
                    yield json.dumps({"type": "ERROR", "object": _GONE}).encode() + b"\n"
                    return
                events = [one for version, one in self.written if version > position and one["path"] == path]
                position = self.version if events else position
                if self._bookmarks != bookmarks:
                    bookmarks, position = self._bookmarks, self.version
                    mark = {"metadata": {"resourceVersion": str(self.version)}}
                    events.append({"type": "BOOKMARK", "object": mark})
                if events:
                    self.last_sent = loop.time()
                    yield b"".join(json.dumps(one).encode() + b"\n" for one in events)
                waker.clear()
                await _wait(waker, until - loop.time())
        finally:
            self._wakers.discard(waker)


async def _wait(waker: asyncio.Event, seconds: float) -> None:
    try:
        async with asyncio.timeout(max(0, seconds)):
            await waker.wait()
    except TimeoutError:
        pass


class _Response:
    """What the client sees of a watch."""

    headers: Mapping[str, str] = MappingProxyType({})

    def __init__(self, api: MemoryApi, request: Any, deadline: float) -> None:
        self.status = 410 if api.refuses_watches > 0 else 200
        api.refuses_watches -= self.status == 410
        self.content = self
        self._watch = (
            request.path,
            int(request.params["resourceVersion"]),
            asyncio.get_running_loop().time() + float(request.params["timeoutSeconds"]),
            deadline,
        )
        self._api = api

    async def __aenter__(self) -> "_Response":
        return self

    async def __aexit__(self, *_: object) -> None:
        return None

    async def read(self, _limit: int) -> bytes:
        return json.dumps(_GONE).encode()

    def iter_any(self) -> AsyncIterator[bytes]:
        return self._api.stream(*self._watch)
