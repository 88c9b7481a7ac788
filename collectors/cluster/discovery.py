"""Discovery: whether the API server serves a kind. Source: Kubernetes' API concepts, `/apis`."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

import msgspec

from collectors.facts.results import SourceError
from collectors.facts.sentences import sentence
from collectors.readable_json import json_decoded
from collectors.sources.kubernetes.source import KubernetesSource

T = TypeVar("T")


class _Version(msgspec.Struct, rename="camel"):
    group_version: str


class _Group(msgspec.Struct):
    versions: list[_Version]


class _Groups(msgspec.Struct):
    groups: list[_Group]


class _Resource(msgspec.Struct):
    name: str


class _Resources(msgspec.Struct):
    resources: list[_Resource]


class Discovery:
    """What the API server serves. Kinds that ask at the same time share one request: at a start, most of them do."""

    def __init__(self, source: KubernetesSource) -> None:
        self._source = source
        self._shared: dict[str, _Shared] = {}

    async def is_served(self, path: str) -> bool:
        """Whether the API server has the resource of this path. Raises SourceError when that cannot be known.

        A 404 for the path is not enough: a proxy with a wrong prefix answers it for every path.
        """
        _, api, group, version, *rest = path.split("/")
        if api != "apis":
            return True  # every API server has the core group
        found = await self._read("/apis", _Groups)
        if not any(one.group_version == f"{group}/{version}" for of in found.groups for one in of.versions):
            return False
        try:
            served = await self._read(f"/apis/{group}/{version}", _Resources)
        except SourceError as failure:
            if failure.status != 404:
                raise
            # The list of the groups is ahead of it while a group is installed, and behind while it is removed.
            return False
        return rest[-1] in {one.name for one in served.resources}

    async def _read(self, path: str, type_: type[T]) -> T:
        body = await self._shared.setdefault(path, _Shared()).body(lambda: self._source.get(path))
        try:
            return json_decoded(msgspec.json.Decoder(type_).decode, body)
        except msgspec.DecodeError as failure:
            raise SourceError(
                sentence(
                    "{where} answered GET {path} without a discovery document",
                    where=self._source.where,
                    path=path,
                )
            ) from failure


class _Shared:
    """The answer to one request: who asks while another waits for it gets the same, an error too."""

    def __init__(self) -> None:
        self._one_at_a_time = asyncio.Lock()
        self._count = 0
        self._body = b""
        self._error: SourceError | None = None

    async def body(self, read: Callable[[], Awaitable[bytes]]) -> bytes:
        before = self._count
        async with self._one_at_a_time:
            if self._count == before:
                try:
                    self._body, self._error = await read(), None
                except SourceError as failure:
                    self._body, self._error = b"", failure
                self._count += 1
            if self._error is not None:
                raise self._error
            return self._body
