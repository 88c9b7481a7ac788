"""Responses of Elasticsearch, decoded. Pure; raises SourceError for one that is incomplete or not as documented.

`filter_path` leaves out what is empty, so most fields may be missing.
"""

from collections.abc import Mapping
from typing import Annotated, Any, TypeVar

import msgspec

from collectors.facts.results import SourceError
from collectors.facts.sentences import counted, said_by, sentence

T = TypeVar("T")

Json = dict[str, Any]
Scalar = str | int | float | bool | None
Count = Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)]

_CUT = 300  # characters of the server's error


class NotElasticsearchError(Exception):
    """The response is not a JSON object: another server answers."""


class _Cause(msgspec.Struct):
    reason: str | None = None
    type: str | None = None


class _Error(_Cause):
    root_cause: list[_Cause] | None = None


class _Failure(msgspec.Struct):
    reason: _Cause | None = None


class _Shards(msgspec.Struct):
    total: Count
    failed: Count = 0
    failures: list[_Failure] | None = None


class _Clusters(msgspec.Struct):
    skipped: Count = 0
    partial: Count = 0
    failed: Count = 0


class _Total(msgspec.Struct):
    value: Count


class Hit(msgspec.Struct):
    """One hit. Values that are too long for a keyword field come separately."""

    fields: dict[str, list[Scalar]] = {}
    ignored_field_values: dict[str, list[Scalar]] = {}
    sort: list[Scalar] | None = None

    def first(self, *names: str) -> Scalar:
        """Return the first value of the first field that has one."""
        for part in (self.fields, self.ignored_field_values):
            for name in names:
                if values := part.get(name):
                    return values[0]
        return None


class SourceHit(msgspec.Struct):
    """One hit as it was indexed."""

    id: str = msgspec.field(name="_id", default="")
    index: str = msgspec.field(name="_index", default="")
    source: dict[str, Any] = msgspec.field(name="_source", default_factory=dict)

    def at(self, path: str) -> object:
        """Return what the document has at this path, however its names with dots are nested."""
        for name, value in self.source.items():
            if name == path:
                return value
            if path.startswith(f"{name}.") and isinstance(value, dict):
                return SourceHit(source=value).at(path.removeprefix(f"{name}."))
        return None


class Hits(msgspec.Struct):
    """The hits of a search. Each is decoded by itself (`hit_of`), so that an odd one does not spoil the others."""

    total: _Total | None = None
    hits: list[Any] = []


class Search(msgspec.Struct):
    """A search's response. Without `shards` it may be incomplete."""

    timed_out: bool = False
    shards: _Shards | None = msgspec.field(name="_shards", default=None)
    clusters: _Clusters | None = msgspec.field(name="_clusters", default=None)
    pit_id: str | None = None
    found: Hits = msgspec.field(name="hits", default_factory=Hits)
    aggregations: dict[str, Any] = {}
    error: Any = None
    status: int | None = None

    @property
    def hits(self) -> list[Any]:
        return self.found.hits

    @property
    def total(self) -> int:
        """The number of matching documents, of a search with `track_total_hits`."""
        if self.found.total is None:
            raise SourceError(sentence("the response has no total of its hits"))
        return self.found.total.value

    def aggregation(self, name: str, type: type[T]) -> T:
        """Return one aggregation; the empty one if it is missing."""
        return _converted(self.aggregations.get(name, {}), type)


class FieldCapability(msgspec.Struct):
    """What a field can be used for, in the indices that map it to one type."""

    searchable: bool
    aggregatable: bool
    indices: list[str] | None = None


FieldCapabilities = Mapping[str, Mapping[str, FieldCapability]]  # by field, then by type


class FieldCaps(msgspec.Struct):
    """A response of `_field_caps`."""

    indices: list[str] = []
    fields: dict[str, dict[str, FieldCapability]] = {}


class _Named(msgspec.Struct):
    name: str


class ResolvedIndices(msgspec.Struct):
    """The response of _resolve/index."""

    indices: list[_Named] = []
    data_streams: list[_Named] = []


class PointInTime(msgspec.Struct):
    """An opened point in time."""

    id: str


class Responses(msgspec.Struct):
    """A response of `_msearch`."""

    responses: list[Search] = []


def decoded(body: object, type: type[T]) -> T:
    """Decode the body of a response. Raises NotElasticsearchError, or SourceError that names the odd field."""
    if not isinstance(body, dict):
        raise NotElasticsearchError
    return _converted(body, type)


def hit_of(one: object) -> Hit:
    """Decode one hit. Raises ValueError that names the odd field."""
    try:
        return msgspec.convert(one, Hit)
    except msgspec.ValidationError as error:
        raise ValueError(str(error)) from error


def source_of(one: object) -> SourceHit | None:
    """Decode a hit with its document; None for an odd one."""
    try:
        return msgspec.convert(one, SourceHit)
    except msgspec.ValidationError:
        return None


def check_complete(response: Search, index: str) -> None:
    """Raise SourceError for a response that lacks a shard or a remote cluster, or that timed out."""
    if response.timed_out:
        raise SourceError(
            sentence(
                "the search in `{index}` timed out and its result is partial: narrow `match` or "
                "shorten `over`",
                index=index,
            )
        )
    if (clusters := response.clusters) is not None:
        counts = {"skipped": clusters.skipped, "partial": clusters.partial, "failed": clusters.failed}
        if missing := ", ".join(f"{count} {key}" for key, count in counts.items() if count):
            raise SourceError(
                sentence(
                    "the search in `{index}` did not reach every remote cluster: {missing}",
                    index=index,
                    missing=missing,
                )
            )
    if (shards := response.shards) is None:
        raise SourceError(
            sentence("the response for `{index}` has no shard counts, so it may be incomplete", index=index)
        )
    if shards.failed:
        causes = [one.reason for one in shards.failures or () if one.reason is not None]
        raise SourceError(
            counted(
                "{failed} of {count} shard of `{index}` failed: {reason}",
                "{failed} of {count} shards of `{index}` failed: {reason}",
                failed=shards.failed,
                count=shards.total,
                index=index,
                reason=_reason(*causes),
            )
        )
    if not shards.total:
        raise SourceError(
            sentence(
                "no index matches `{index}`: check elasticsearch.index and the log shipper", index=index
            ),
            temporary=False,
        )


def reason_of(body: object) -> str:
    """Return the reason that the server gives for an error, cut short; it may repeat parts of the query."""
    error = body.get("error") if isinstance(body, dict) else body
    if isinstance(error, str):
        return error[:_CUT]
    try:
        found = _converted(error, _Error)
    except SourceError:
        return sentence("no reason given")
    return _reason(*(found.root_cause or ()), found)


def _reason(*causes: _Cause) -> str:
    found = [cause.reason for cause in causes if cause.reason] + [
        cause.type for cause in causes if cause.type
    ]
    return found[0][:_CUT] if found else sentence("no reason given")


def _converted(value: object, type: type[T]) -> T:
    try:
        return msgspec.convert(value, type)
    except (msgspec.ValidationError, UnicodeError) as error:  # a lone surrogate
        raise SourceError(
            sentence("the response is not as Elasticsearch documents it: {error}", error=said_by(error))
        ) from error
