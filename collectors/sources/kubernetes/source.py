"""The Kubernetes source: single objects, lists in pages, watches and pod logs."""

import asyncio
import re
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from datetime import timedelta
from urllib.parse import quote

import aiohttp
import msgspec

from collectors.facts.results import SourceError
from collectors.facts.sentences import said_by, sentence
from collectors.sources.kubernetes.api_status import error_of, error_text
from collectors.sources.kubernetes.client import KubernetesClient, KubernetesRequest

_BROKEN = (aiohttp.ClientError, asyncio.TimeoutError, OSError)
_LONGEST_LINE = 16 << 20  # bytes of one object in a watch; etcd holds at most 1.5 MiB
_WATCH_OPENS_IN = 15.0  # seconds for the headers of a watch


class _ListMeta(msgspec.Struct, rename={"continue_": "continue"}):
    continue_: str = ""


class _Page(msgspec.Struct):
    metadata: _ListMeta = msgspec.field(default_factory=_ListMeta)


_page = msgspec.json.Decoder(_Page)
_meta = msgspec.json.Decoder(_ListMeta)
# For built-in kinds the server writes a list's metadata before its items, so the items need not be scanned.
_HEAD = re.compile(rb'\{(?:"(?:kind|apiVersion)":"[^"\\]*",)*"metadata":(\{[^{}]*\})')


class KubernetesSource:
    """Reads one cluster. Every method raises SourceError (KubernetesError when the server rejected the request)."""

    def __init__(self, client: KubernetesClient) -> None:
        self.client = client

    @property
    def where(self) -> str:
        """The API server's address, for people."""
        return self.client.where

    async def get(self, path: str, params: Mapping[str, str] | None = None) -> bytes:
        return await self.client.call("GET", path, params=params)

    async def pages(
        self, path: str, *, limit: int = 500, params: Mapping[str, str] | None = None
    ) -> AsyncGenerator[bytes, None]:
        """Yield the pages of one list. All have the same version; an expired token raises an error with status 410."""
        token = ""
        while True:
            query = {**(params or {}), "limit": str(limit)}
            if token:
                query["continue"] = token
            body = await self.client.call("GET", path, params=query)
            try:
                token = _token(body)
            except msgspec.DecodeError as failure:
                raise SourceError(
                    sentence(
                        "{where} answered GET {path} without a list: {failure}",
                        where=self.where,
                        path=path,
                        failure=said_by(failure),
                    )
                ) from failure
            yield body
            if not token:
                return

    async def watch(
        self,
        path: str,
        version: str,
        *,
        params: Mapping[str, str] | None = None,
        seconds: float = 40,
        grace: float = 10,
    ) -> AsyncGenerator[bytes, None]:
        """Yield the lines of one watch from this version on: an empty one once it is open, then one JSON event each.

        The server ends it after `seconds`, which is not an error. Without that end it is aborted `grace` later, so a
        dead connection costs no more than the sum of both.
        """
        query = {
            **(params or {}),
            "watch": "true",
            "resourceVersion": version,
            "allowWatchBookmarks": "true",
            "timeoutSeconds": f"{seconds:.0f}",
        }
        attempt = f"GET {path}?watch=true"
        limit = seconds + grace
        try:
            async with asyncio.timeout(min(_WATCH_OPENS_IN, limit)):
                request = KubernetesRequest(method="GET", path=path, params=query)
                response = await self.client.open(self.client.watches, request, seconds=limit)
            async with response:
                if response.status != 200:
                    if response.status == 401:
                        await self.client.reload()
                    body = await response.content.read(1 << 16)
                    raise error_of(response.status, body, response.headers, self.where, attempt)
                yield b""
                async with aclosing(_lines(response)) as lines:
                    async for line in lines:
                        yield line
        except _BROKEN as failure:
            raise SourceError(error_text(failure, self.where, limit)) from failure

    async def logs(
        self,
        namespace: str,
        pod: str,
        *,
        container: str = "",
        tail: int = 100,
        previous: bool = False,
        byte_limit: int = 1 << 20,
        timestamps: bool = False,
        since: timedelta | None = None,
        timeout: timedelta | None = None,
    ) -> str:
        """Return the last lines of a container's log. Undecodable bytes are replaced; nothing is escaped.

        `timestamps`: each line begins with its time and a space. `since`: only lines that are not older.
        """
        query = {"tailLines": str(tail), "limitBytes": str(byte_limit)}
        if timestamps:
            query["timestamps"] = "true"
        if since is not None:
            query["sinceSeconds"] = str(max(1, round(since.total_seconds())))
        if container:
            query["container"] = container
        if previous:
            query["previous"] = "true"
        path = f"/api/v1/namespaces/{quote(namespace, safe='')}/pods/{quote(pod, safe='')}/log"
        body = await self.client.call(
            "GET", path, params=query, headers=(("Accept", "*/*"),), timeout=timeout
        )
        return body.decode(errors="replace")


def _token(body: bytes) -> str:
    """Return the continue token; empty on the last page. Raises msgspec.DecodeError for a body that is not a list."""
    if head := _HEAD.match(body):
        try:
            return _meta.decode(head[1]).continue_
        except msgspec.DecodeError:  # a brace in a string
            pass
    return _page.decode(body).metadata.continue_


async def _lines(response: aiohttp.ClientResponse) -> AsyncGenerator[bytes, None]:
    """Yield complete lines, however the bytes arrive. (aiohttp's own reader rejects lines longer than its buffer.)"""
    rest: list[bytes] = []
    size = 0
    async for chunk in response.content.iter_any():
        *done, last = chunk.split(b"\n")
        for part in done:
            rest.append(part)
            if line := b"".join(rest):
                yield line
            rest, size = [], 0
        if last:
            rest.append(last)
            size += len(last)
            if size > _LONGEST_LINE:
                raise SourceError(
                    sentence(
                        "an event of the watch is longer than {most} MiB",
                        most=_LONGEST_LINE >> 20,
                    )
                )
    if rest:
        raise SourceError(sentence("the watch ended in the middle of an event"))
