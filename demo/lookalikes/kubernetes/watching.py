"""Watches: initial events, selectors, bookmarks, timeouts and 410."""

import asyncio
from collections.abc import Callable

from aiohttp import web

from demo.lookalikes.kubernetes.errors import bad_request, expired, invalid
from demo.lookalikes.kubernetes.faults import Faults
from demo.lookalikes.kubernetes.objects import Json, encode, name_of, namespace_of
from demo.lookalikes.kubernetes.requests import ResourceRequest
from demo.lookalikes.kubernetes.selectors import ObjectTest, selection
from demo.lookalikes.kubernetes.store import Change, Store, Stored

_BOOKMARK_INTERVAL = 60.0  # seconds, as in the real server
_DEFAULT_TIMEOUT = 1800.0


def _line(kind: str, whole: bytes) -> bytes:
    return b'{"type":"' + kind.encode() + b'","object":' + whole + b"}\n"


class Watch:
    """One watch request while it is being answered."""

    def __init__(
        self, store: Store, request: ResourceRequest, faults: Faults, shape: Callable[[Stored], bytes]
    ) -> None:
        self._store = store
        self._request = request
        self._faults = faults
        self._shape = shape
        query = request.query
        test = selection(request.kind, query.get("labelSelector", ""), query.get("fieldSelector", ""))
        self._test: ObjectTest = test or (lambda tree: True)
        self._bookmarks = query.get("allowWatchBookmarks") in ("1", "true")
        self._initial = query.get("sendInitialEvents") in ("1", "true")
        version = query.get("resourceVersion", "")
        if version and not version.isdigit():
            raise bad_request(
                f'resourceVersion: Invalid value: "{version}": strconv.ParseUint: parsing "{version}": invalid syntax'
            )
        if self._initial and query.get("resourceVersionMatch") != "NotOlderThan":
            text = "Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"
            raise invalid(
                "ListOptions", "", "meta.k8s.io", [("resourceVersionMatch", "FieldValueForbidden", text)]
            )
        self._from = int(version or 0)
        self._seconds = float(query.get("timeoutSeconds") or _DEFAULT_TIMEOUT)

    def _selects(self, stored: Stored) -> bool:
        request = self._request
        if request.namespace and namespace_of(stored.tree) != request.namespace:
            return False
        if request.name and name_of(stored.tree) != request.name:
            return False
        return self._test(stored.tree)

    def _event(self, change: Change) -> bytes | None:
        """Return the line of a change for this watcher: an object that leaves the selection is DELETED."""
        after = change.type != "DELETED" and self._selects(change.after)
        before = change.before is not None and self._selects(change.before)
        if after:
            return _line("MODIFIED" if before else "ADDED", self._shape(change.after))
        return _line("DELETED", self._shape(change.after)) if before else None

    def _bookmark(self, version: int, *, initial_end: bool = False) -> bytes:
        meta: Json = {"resourceVersion": str(version), "creationTimestamp": None}
        if initial_end:
            meta["annotations"] = {"k8s.io/initial-events-end": "true"}
        kind = self._request.kind
        return _line(
            "BOOKMARK", encode({"kind": kind.kind, "apiVersion": kind.api_version, "metadata": meta})
        )

    async def answer(self, http_request: web.Request) -> web.StreamResponse:
        """Stream until the timeout, a disconnect, an expired version, or a watch that is dropped or stalled."""
        response = web.StreamResponse(
            headers={"Content-Type": "application/json", "Cache-Control": "no-cache, private"}
        )
        response.enable_chunked_encoding()
        await response.prepare(http_request)
        if self._faults.ends_watches:
            await response.write_eof()
            return response
        dropped, opened_at = False, self._faults.generation
        try:
            async with asyncio.timeout(self._seconds):
                with self._store.waking(self._request.kind) as waker, self._faults.droppable(waker):
                    dropped = await self._stream(response, waker)
        except TimeoutError:
            pass  # the timeout that the client requested
        except ConnectionResetError:
            return response
        if opened_at < self._faults.stalled:
            await asyncio.Event().wait()  # until the client has had enough
        await self._faults.unpaused()
        if dropped and self._faults.abrupt:
            if http_request.transport is not None:
                http_request.transport.abort()
            return response
        await response.write_eof()
        return response

    async def _stream(self, response: web.StreamResponse, waker: asyncio.Event) -> bool:
        """Write events until the history expires (False) or the watch is dropped (True)."""
        generation = self._faults.generation
        position = self._from
        if self._initial or self._from == 0:
            position = self._store.version
            found = self._store.all(self._request.kind, self._request.namespace)
            await response.write(b"".join(_line("ADDED", self._shape(s)) for s in found if self._selects(s)))
            if self._initial and self._bookmarks:
                await response.write(self._bookmark(position, initial_end=True))
        sent, is_due = self._faults.bookmarks, False
        while True:
            waker.clear()
            if self._faults.generation != generation:
                return True
            await self._faults.unpaused()
            changes, version = self._store.since(self._request.kind, position), self._store.version
            if changes is None:
                first = self._store.forgotten(self._request.kind)
                status = expired(f"too old resource version: {position} ({first})").status()
                await response.write(_line("ERROR", encode(status)))
                return False
            lines = [line for change in changes if (line := self._event(change))]
            if changes:
                position = changes[-1].version
            if self._bookmarks and (is_due or sent != self._faults.bookmarks):
                position, sent = max(position, version), self._faults.bookmarks
                lines.append(self._bookmark(position))
            if lines:
                await response.write(b"".join(lines))
            is_due = False
            try:
                async with asyncio.timeout(_BOOKMARK_INTERVAL):
                    await waker.wait()
            except TimeoutError:
                is_due = True
