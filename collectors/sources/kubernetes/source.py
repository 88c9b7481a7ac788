"""This file has the source through which Kubernetes is read: single objects, lists in pages, watches, logs."""

import asyncio
import re
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from datetime import timedelta
from urllib.parse import quote

import aiohttp
import msgspec

from collectors.facts.results import SourceError
from collectors.sources.kubernetes.api_status import error_of, words_of
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
# Of the built-in kinds the server writes the list's metadata before its items: the rest need not be scanned for it.
_HEAD = re.compile(rb'\{(?:"(?:kind|apiVersion)":"[^"\\]*",)*"metadata":(\{[^{}]*\})')


class KubernetesSource:
    """Reads one cluster. Every method raises SourceError (KubernetesError when the server said no)."""

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
        """The pages of one list. All carry the same version; an expired token raises with status 410."""
        token = ""
        while True:
            asked = {**(params or {}), "limit": str(limit)}
            if token:
                asked["continue"] = token
            body = await self.client.call("GET", path, params=asked)
            try:
                token = _token(body)
            except msgspec.DecodeError as failure:
                raise SourceError(f"{self.where} answered GET {path} with no list: {failure}") from failure
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
        """The lines of one watch from that version on: one empty piece once it is open, then JSON, a line each.

        The server ends it after `seconds`, which is no error. When not even that comes, `grace` later it is
        given up, so a connection that is dead in silence costs no more than both together.
        """
        asked = {
            **(params or {}),
            "watch": "true",
            "resourceVersion": version,
            "allowWatchBookmarks": "true",
            "timeoutSeconds": f"{seconds:.0f}",
        }
        attempt = f"GET {path}?watch=true"
        whole = seconds + grace
        try:
            async with asyncio.timeout(min(_WATCH_OPENS_IN, whole)):
                request = KubernetesRequest(method="GET", path=path, params=asked)
                response = await self.client.open(self.client.watches, request, seconds=whole)
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
            raise SourceError(words_of(failure, self.where, whole)) from failure

    async def logs(
        self,
        namespace: str,
        pod: str,
        *,
        container: str = "",
        tail: int = 100,
        previous: bool = False,
        byte_limit: int = 1 << 20,
        timeout: timedelta | None = None,
    ) -> str:
        """The last lines that a container wrote. Undecodable bytes are replaced; nothing is escaped."""
        asked = {"tailLines": str(tail), "limitBytes": str(byte_limit)}
        if container:
            asked["container"] = container
        if previous:
            asked["previous"] = "true"
        path = f"/api/v1/namespaces/{quote(namespace, safe='')}/pods/{quote(pod, safe='')}/log"
        body = await self.client.call(
            "GET", path, params=asked, headers=(("Accept", "*/*"),), timeout=timeout
        )
        return body.decode(errors="replace")


def _token(body: bytes) -> str:
    """What asks for the next page; empty on the last. Raises msgspec.DecodeError for what is no list."""
    if head := _HEAD.match(body):
        try:
            return _meta.decode(head[1]).continue_
        except msgspec.DecodeError:  # a brace in a string
            pass
    return _page.decode(body).metadata.continue_


async def _lines(response: aiohttp.ClientResponse) -> AsyncGenerator[bytes, None]:
    """Whole lines, however the bytes are cut. (aiohttp's own reader refuses lines above its buffer.)"""
    rest: list[bytes] = []
    size = 0
    async for piece in response.content.iter_any():
        *done, last = piece.split(b"\n")
        for part in done:
            rest.append(part)
            if line := b"".join(rest):
                yield line
            rest, size = [], 0
        if last:
            rest.append(last)
            size += len(last)
            if size > _LONGEST_LINE:
                raise SourceError(f"one line of the watch is longer than {_LONGEST_LINE >> 20} MiB")
    if rest:
        raise SourceError("the watch broke off in the middle of a line")
