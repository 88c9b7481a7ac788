"""Client of a Kubernetes API server: requests, lists and watches of raw JSON objects."""

from __future__ import annotations

import asyncio
import json
import ssl
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import aiohttp

Object = dict[str, Any]

MERGE = "application/merge-patch+json"
STRATEGIC = "application/strategic-merge-patch+json"
TIMEOUT = 30.0  # s per request


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """Address and credentials of the API server. Without `ca_file` the system's certificates are used."""

    url: str
    token: str = ""
    ca_file: Path | None = None


class RefusedError(Exception):
    """The API server rejected a request. `status` is the HTTP code, `reason` the API's, such as AlreadyExists."""

    def __init__(self, method: str, path: str, status: int, reason: str, message: str) -> None:
        super().__init__(f"{method} {path}: {status} {reason} {message[:400]}")
        self.status = status
        self.reason = reason


class Api:
    """Requests to one API server. Use it as `async with Api(access) as api`."""

    def __init__(self, access: Access) -> None:
        self.access = access
        self._session: aiohttp.ClientSession | None = None

    async def __aenter__(self) -> Self:
        trust: ssl.SSLContext | bool = True
        if self.access.ca_file is not None:
            trust = ssl.create_default_context(cafile=str(self.access.ca_file))
        headers = {"User-Agent": "demo-world"}
        if self.access.token:
            headers["Authorization"] = f"Bearer {self.access.token}"
        self._session = aiohttp.ClientSession(
            base_url=self.access.url.rstrip("/") + "/",
            headers=headers,
            connector=aiohttp.TCPConnector(ssl=trust, limit=64),
            timeout=aiohttp.ClientTimeout(total=TIMEOUT),
            read_bufsize=2**20,
        )
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        if self._session is not None:
            await self._session.close()
            await asyncio.sleep(0.01)  # lets TLS transports close before the loop does

    @property
    def session(self) -> aiohttp.ClientSession:
        if self._session is None:
            raise RuntimeError("use this Api inside `async with`")
        return self._session

    async def call(
        self,
        method: str,
        path: str,
        body: Object | None = None,
        *,
        kind: str = "application/json",
        params: Mapping[str, str] | None = None,
    ) -> Object:
        """Send a request and return the object. Raises RefusedError; TimeoutError and ClientError without an answer."""
        content = None if body is None else json.dumps(body)
        headers = {"Content-Type": kind} if content else {}
        async with self.session.request(
            method, path.lstrip("/"), data=content, headers=headers, params=params
        ) as reply:
            raw = await reply.read()
            if reply.status >= 400:
                raise _refusal(method, path, reply.status, raw)
            answer: Object = json.loads(raw)
            return answer

    async def create(self, path: str, body: Object) -> Object | None:
        """Create an object in the collection at `path` with strict field validation; None when it exists."""
        try:
            return await self.call("POST", path, body, params={"fieldValidation": "Strict"})
        except RefusedError as refusal:
            if refusal.status == 409 and refusal.reason == "AlreadyExists":
                return None
            raise

    async def patch(self, path: str, body: Object, *, kind: str = STRATEGIC) -> Object | None:
        """Patch an object; None when it does not exist."""
        try:
            return await self.call("PATCH", path, body, kind=kind)
        except RefusedError as refusal:
            if refusal.status == 404:
                return None
            raise

    async def delete(self, path: str, options: Object | None = None) -> None:
        """Delete an object. A missing object or a different uid is not an error."""
        try:
            await self.call("DELETE", path, options)
        except RefusedError as refusal:
            if refusal.status not in (404, 409):
                raise

    async def watch(self, path: str, version: str, *, seconds: int = 50) -> AsyncIterator[Object]:
        """Yield the events of one watch until the server ends it. Raises RefusedError (also for 410), TimeoutError."""
        params = {
            "watch": "true",
            "resourceVersion": version,
            "allowWatchBookmarks": "true",
            "timeoutSeconds": str(seconds),
        }
        limit = aiohttp.ClientTimeout(total=seconds + 15)
        async with self.session.get(path.lstrip("/"), params=params, timeout=limit) as reply:
            if reply.status >= 400:
                raise _refusal("WATCH", path, reply.status, await reply.read())
            async for line in reply.content:
                event: Object = json.loads(line)
                if event["type"] == "ERROR":
                    status = event["object"]
                    raise RefusedError(
                        "WATCH",
                        path,
                        int(status.get("code", 500)),
                        str(status.get("reason")),
                        str(status.get("message")),
                    )
                yield event


def _refusal(method: str, path: str, status: int, raw: bytes) -> RefusedError:
    try:
        reply = json.loads(raw)
    except ValueError:
        reply = {}
    if not isinstance(reply, dict):
        reply = {}
    return RefusedError(
        method, path, status, str(reply.get("reason", "")), str(reply.get("message", raw[:200]))
    )
