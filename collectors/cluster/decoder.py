"""Decoding of lists and watch events of the API server. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Generic, TypeVar

import msgspec

from collectors.cluster.base import KubernetesObject
from collectors.cluster.kinds import ResourceKind
from collectors.facts.results import SourceError
from collectors.facts.sentences import said_by, sentence
from collectors.readable_json import json_decoded
from collectors.sources.kubernetes.api_status import Status

T = TypeVar("T", bound=KubernetesObject)


class _ListMeta(msgspec.Struct, rename="camel"):
    resource_version: str = ""


class _List(msgspec.Struct, Generic[T]):
    metadata: _ListMeta
    items: list[T] | None = None


class _RawList(msgspec.Struct):
    metadata: _ListMeta
    items: list[msgspec.Raw] | None = None


class _Line(msgspec.Struct):
    type: str
    object: msgspec.Raw


class _NamedMeta(msgspec.Struct, rename="camel"):
    name: str
    namespace: str = ""
    resource_version: str = ""


class _Named(msgspec.Struct):
    metadata: _NamedMeta

    @property
    def key(self) -> str:
        meta = self.metadata
        return f"{meta.namespace}/{meta.name}" if meta.namespace else meta.name


class _Bookmark(msgspec.Struct):
    metadata: _ListMeta


class WatchEventType(StrEnum):
    """The type of a watch event."""

    MODIFIED = "modified"  # or added
    DELETED = "deleted"
    BOOKMARK = "bookmark"
    ERROR = "error"


@dataclass(frozen=True, slots=True, kw_only=True)
class Page(Generic[T]):
    """One page of a list. `unreadable`: the objects of it that are not as in the API, by key, with the reason."""

    version: str
    objects: Sequence[T]
    unreadable: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchEvent(Generic[T]):
    """One watch event. `version` is the resourceVersion to continue from; `status` is set for an ERROR.

    An object that is not as in the API has only its `key`, and the reason in `unreadable`.
    """

    type: WatchEventType
    version: str = ""
    key: str = ""
    object: T | None = None
    unreadable: str = ""
    status: Status | None = None


class UnreadableObjectsError(SourceError):
    """What the server sent for a kind is no list or watch of it: only a new list helps."""


class KindDecoder(Generic[T]):
    """Decodes one kind. An object that is not as in the API is left out and named.

    Raises SourceError for anything else that is not a list or a watch event.
    """

    def __init__(self, kind: ResourceKind[T]) -> None:
        self._kind = kind
        self._list: msgspec.json.Decoder[_List[T]] = msgspec.json.Decoder(_List[kind.type])  # type: ignore[name-defined]
        self._object: msgspec.json.Decoder[T] = msgspec.json.Decoder(kind.type)

    def page(self, body: bytes) -> Page[T]:
        try:
            found = self._list.decode(body)
            return Page(version=found.metadata.resource_version, objects=found.items or ())
        except (msgspec.DecodeError, UnicodeDecodeError):
            return self._page_by_items(body)  # much slower

    def _page_by_items(self, body: bytes) -> Page[T]:
        try:
            found = json_decoded(_raw_list.decode, body)
        except msgspec.DecodeError as failure:
            raise UnreadableObjectsError(
                sentence(
                    "the list of {kind} cannot be read: {failure}",
                    kind=self._kind.name,
                    failure=said_by(failure),
                )
            ) from failure
        objects: list[T] = []
        unreadable: dict[str, str] = {}
        for position, item in enumerate(found.items or ()):
            try:
                objects.append(json_decoded(self._object.decode, item))
            except msgspec.DecodeError as failure:
                named = _named_in(item)
                unreadable[named.key if named else f"(number {position} of a page)"] = str(failure)
        return Page(version=found.metadata.resource_version, objects=objects, unreadable=unreadable)

    def line(self, line: bytes) -> WatchEvent[T]:
        try:
            event = json_decoded(_line.decode, line)
            if event.type == "BOOKMARK":
                mark = json_decoded(_bookmark.decode, event.object).metadata.resource_version
                return WatchEvent(type=WatchEventType.BOOKMARK, version=mark)
            if event.type == "ERROR":
                return WatchEvent(
                    type=WatchEventType.ERROR, status=json_decoded(_status.decode, event.object)
                )
        except msgspec.DecodeError as failure:
            raise self._unreadable_watch(failure) from failure
        type_ = WatchEventType.DELETED if event.type == "DELETED" else WatchEventType.MODIFIED
        try:
            object_ = json_decoded(self._object.decode, event.object)
        except msgspec.DecodeError as failure:
            named = _named_in(event.object)
            if named is None or not named.metadata.resource_version:
                raise self._unreadable_watch(failure) from failure
            version = named.metadata.resource_version
            return WatchEvent(type=type_, version=version, key=named.key, unreadable=str(failure))
        version = object_.metadata.resource_version
        return WatchEvent(type=type_, version=version, key=object_.key, object=object_)

    def _unreadable_watch(self, failure: msgspec.DecodeError) -> UnreadableObjectsError:
        return UnreadableObjectsError(
            sentence(
                "the watch of {kind} cannot be read: {failure}",
                kind=self._kind.name,
                failure=said_by(failure),
            )
        )


def _named_in(item: msgspec.Raw) -> _Named | None:
    """Return the name of an object that cannot be decoded; None when not even that can be."""
    try:
        return json_decoded(_named.decode, item)
    except msgspec.DecodeError:
        return None


_raw_list = msgspec.json.Decoder(_RawList)
_named = msgspec.json.Decoder(_Named)
_line = msgspec.json.Decoder(_Line)
_bookmark = msgspec.json.Decoder(_Bookmark)
_status = msgspec.json.Decoder(Status)
