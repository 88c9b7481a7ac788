"""Searches over indices or a point in time."""

from collections.abc import Callable, Mapping
from secrets import token_urlsafe
from typing import Any

from demo.lookalikes.elasticsearch.aggregations import Aggregator, must_fit
from demo.lookalikes.elasticsearch.hits import after_key, hits_of, must_be_sortable, sort_key
from demo.lookalikes.elasticsearch.indices import Document, Indices, Shard
from demo.lookalikes.elasticsearch.mappings import Json
from demo.lookalikes.elasticsearch.queries import query_test, times_of
from demo.lookalikes.elasticsearch.refusals import RefusalError, only

_KNOWN = {
    "timeout",
    "pit",
    "from",
    "size",
    "track_total_hits",
    "terminate_after",
    "query",
    "sort",
    "search_after",
    "_source",
    "fields",
    "aggs",
}
_TOTAL_LIMIT = 10_000
_MOST_HITS = 10_000
_MOST_POINTS = 100
_PER_SHARD = ("query_shard_exception", "illegal_argument_exception", "parse_exception")


class Searches:
    """Searches over the indices. `clock` gives monotonic seconds, by which points in time expire."""

    def __init__(self, indices: Indices, clock: Callable[[], float]) -> None:
        self._indices = indices
        self._clock = clock
        self._points: dict[str, tuple[list[Shard], float]] = {}

    def search(self, expression: str | None, body: Json) -> Json:
        """Answer one search. Raises RefusalError; when only some shards refuse, the answer is partial."""
        only(body, _KNOWN, "search")
        shards, pit = self._searched_shards(expression, body)
        sort = list(body.get("sort", ()))
        if pit and sort:
            sort.append("_shard_doc")  # as Elasticsearch does, so that pages do not overlap
        failures: list[Json] = []
        found: list[Document] = []
        kinds = {shard.index: shard.kinds for shard in shards}
        was_terminated = False
        for shard in shards:
            try:
                must_be_sortable(sort, shard.kinds)
                must_fit(body.get("aggs", {}), shard.kinds, shard.index)
                matching, is_terminated = _matching(shard, body)
            except RefusalError as refusal:
                if refusal.kind not in _PER_SHARD:
                    raise
                failures.append(_failure(shard.index, refusal))
                continue
            was_terminated = was_terminated or is_terminated
            found += matching
        if shards and len(failures) == len(shards):
            raise _all_failed(failures)
        answer: Json = {"took": 1, "timed_out": False}
        if pit:
            answer["pit_id"] = pit
        if was_terminated:
            answer["terminated_early"] = True
        counts = {"total": len(shards), "successful": len(shards) - len(failures), "skipped": 0}
        answer["_shards"] = {**counts, "failed": len(failures)}
        if failures:
            answer["_shards"]["failures"] = failures
        answer["hits"] = self._hits(found, body, sort, kinds)
        if "aggs" in body:
            aggregator = Aggregator(
                lambda index: kinds[index],
                lambda documents, shown, size: {
                    "total": {"value": len(documents), "relation": "eq"},
                    "hits": hits_of(documents, shown, size, lambda index: kinds[index]),
                },
            )
            answer["aggregations"] = aggregator.answer(body["aggs"], found)
        return answer

    def count(self, expression: str, body: Json) -> int:
        only(body, {"query"}, "count")
        return sum(len(_matching(shard, body)[0]) for shard in self._indices.shards(expression))

    def open_point(self, expression: str, seconds: float) -> str:
        """Open a point in time over the indices for some seconds, and return its id."""
        now = self._clock()
        self._points = {name: point for name, point in self._points.items() if point[1] > now}
        if len(self._points) >= _MOST_POINTS:
            raise RefusalError(429, "es_rejected_execution_exception", "too many open points in time")
        name = token_urlsafe(24)
        self._points[name] = self._indices.shards(expression), now + seconds
        return name

    def close_point(self, name: str) -> bool:
        return self._points.pop(name, None) is not None

    @property
    def open_points(self) -> int:
        return len(self._points)

    def field_caps(self, expression: str, names: list[str]) -> Json:
        """The types of the fields in the indices."""
        indices = self._indices.resolve(expression)
        fields: dict[str, Json] = {}
        if names == ["*"]:
            names = sorted({name for index in indices for name in index.mapping.kinds})
        for name in names:
            indices_by_kind: dict[str, list[str]] = {}
            for index in indices:
                kind = index.mapping.kinds.get(name)
                if kind is None and index.mapping.is_parent(name):
                    kind = "object"
                if kind is not None:
                    indices_by_kind.setdefault(kind, []).append(index.name)
            for kind, with_kind in indices_by_kind.items():
                capability: Json = {
                    "type": kind,
                    "metadata_field": False,
                    "searchable": kind != "object",
                    "aggregatable": kind not in ("object", "text"),
                }
                if len(indices_by_kind) > 1:
                    capability["indices"] = with_kind
                fields.setdefault(name, {})[kind] = capability
        return {"indices": [index.name for index in indices], "fields": fields}

    def _searched_shards(self, expression: str | None, body: Json) -> tuple[list[Shard], str]:
        if "pit" not in body:
            return self._indices.shards(expression or "*"), ""
        only(body["pit"], {"id", "keep_alive"}, "pit")
        name = body["pit"]["id"]
        point = self._points.get(name)
        if point is None or point[1] <= self._clock():
            raise RefusalError(404, "search_context_missing_exception", "No search context found for id")
        if keep := body["pit"].get("keep_alive"):
            self._points[name] = point[0], self._clock() + seconds_of(keep)
        return point[0], name

    def _hits(
        self, found: list[Document], body: Json, sort: list[Any], kinds: Mapping[str, Mapping[str, str]]
    ) -> Json:
        start, size = body.get("from", 0), body.get("size", 10)
        if start + size > _MOST_HITS:
            raise RefusalError(400, "illegal_argument_exception", "Result window is too large")
        hits: Json = {}
        tracked = body.get("track_total_hits", _TOTAL_LIMIT)
        if tracked is not False:
            limit = len(found) if tracked is True else int(tracked)
            is_more = len(found) > limit
            hits["total"] = {"value": min(limit, len(found)), "relation": "gte" if is_more else "eq"}
        rest = found
        if "search_after" in body:
            key = sort_key(sort)
            after = after_key(sort, body["search_after"])
            rest = [document for document in found if key(document) > after]
        shown = {**body, "sort": sort}
        hits["max_score"] = None
        hits["hits"] = hits_of(rest, shown, start + size, lambda index: kinds[index])[start:] if size else []
        return hits


def seconds_of(text: str) -> float:
    """The seconds of a time like `1m`, `30s` or `500ms`."""
    for unit, size in (("ms", 0.001), ("s", 1.0), ("m", 60.0), ("h", 3600.0)):
        if text.endswith(unit) and text[: -len(unit)].isdigit():
            return int(text[: -len(unit)]) * size
    raise RefusalError(400, "illegal_argument_exception", f"failed to parse [{text}] as a time value")


def _matching(shard: Shard, body: Json) -> tuple[list[Document], bool]:
    """The matching documents of a shard, and whether the search stopped at `terminate_after`."""
    query = body.get("query", {"match_all": {}})
    test = query_test(query, shard.kinds)
    limit = body.get("terminate_after", 0)
    found: list[Document] = []
    for document in shard.between(*times_of(query)):
        if test(document):
            found.append(document)
            if limit and len(found) >= limit:
                return found, True
    return found, False


def _failure(index: str, refusal: RefusalError) -> Json:
    reason = {"type": refusal.kind, "reason": refusal.reason, "index": index}
    return {"shard": 0, "index": index, "node": "look-alike", "reason": reason}


def _all_failed(failures: list[Json]) -> RefusalError:
    first = failures[0]["reason"]
    return RefusalError(400, first["type"], first["reason"])
