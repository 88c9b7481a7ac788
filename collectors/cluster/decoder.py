"""This file reads lists and watch lines as the API server writes them. Pure."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Generic, TypeVar

import msgspec

from collectors.cluster.base import KubernetesObject
from collectors.cluster.kinds import ResourceKind
from collectors.facts.results import SourceError
from collectors.sources.kubernetes.api_status import Status

T = TypeVar("T", bound=KubernetesObject)


class _ListMeta(msgspec.Struct, rename="camel"):
    resource_version: str = ""


class _List(msgspec.Struct, Generic[T]):
    metadata: _ListMeta
    items: list[T] | None = None


class _Line(msgspec.Struct):
    type: str
    object: msgspec.Raw


class _Bookmark(msgspec.Struct):
    metadata: _ListMeta


class WatchEventType(StrEnum):
    """What a line of a watch says happened."""

    MODIFIED = "modified"  # or added
    DELETED = "deleted"
    BOOKMARK = "bookmark"
    ERROR = "error"


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchEvent(Generic[T]):
    """One line of a watch, read. `version` is where to go on from; `status` is there for an ERROR."""

    type: WatchEventType
    version: str = ""
    object: T | None = None
    status: Status | None = None


class KindDecoder(Generic[T]):
    """Reads one kind. Raises SourceError that names the field which is not as the API promises."""

    def __init__(self, kind: ResourceKind[T]) -> None:
        self._kind = kind
        self._list: msgspec.json.Decoder[_List[T]] = msgspec.json.Decoder(_List[kind.type])  # type: ignore[name-defined]
        self._object: msgspec.json.Decoder[T] = msgspec.json.Decoder(kind.type)
        self._line = msgspec.json.Decoder(_Line)
        self._bookmark = msgspec.json.Decoder(_Bookmark)
        self._status = msgspec.json.Decoder(Status)

    def page(self, body: bytes) -> tuple[str, list[T]]:
        """The version of a list and the objects of one page of it."""
        try:
            found = self._list.decode(body)
        except msgspec.DecodeError as failure:
            raise SourceError(f"the list of {self._kind.name} cannot be read: {failure}") from failure
        return found.metadata.resource_version, found.items or []

    def line(self, line: bytes) -> WatchEvent[T]:
        try:
            event = self._line.decode(line)
            if event.type == "BOOKMARK":
                mark = self._bookmark.decode(event.object).metadata.resource_version
                return WatchEvent(type=WatchEventType.BOOKMARK, version=mark)
            if event.type == "ERROR":
                return WatchEvent(type=WatchEventType.ERROR, status=self._status.decode(event.object))
            object_ = self._object.decode(event.object)
        except msgspec.DecodeError as failure:
            raise SourceError(f"the watch of {self._kind.name} cannot be read: {failure}") from failure
        type_ = WatchEventType.DELETED if event.type == "DELETED" else WatchEventType.MODIFIED
        return WatchEvent(type=type_, version=object_.metadata.resource_version, object=object_)
