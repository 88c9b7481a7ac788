"""This file answers searches: over indices or a point in time, one or several in a request."""

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
    """Searches over the indices. `clock` gives seconds that only grow, for points in time that end by themselves."""

    def __init__(self, indices: Indices, clock: Callable[[], float]) -> None:
        self._indices = indices
        self._clock = clock
        self._points: dict[str, tuple[list[Shard], float]] = {}

    def search(self, expression: str | None, body: Json) -> Json:
        """Answer one search. Raises RefusalError; a refusal of some shards only makes the answer partial."""
        only(body, _KNOWN, "search")
        shards, pit = self._seen(expression, body)
        sort = list(body.get("sort", ()))
        if pit and sort:
            sort.append("_shard_doc")  # what Elasticsearch adds itself, so that pages do not overlap
        failures: list[Json] = []
        found: list[Document] = []
        kinds = {shard.index: shard.kinds for shard in shards}
        was_cut = False
        for shard in shards:
            try:
                must_be_sortable(sort, shard.kinds)
                must_fit(body.get("aggs", {}), shard.kinds, shard.index)
                some = _matching(shard, body)
            except RefusalError as refusal:
                if refusal.kind not in _PER_SHARD:
                    raise
                failures.append(_failure(shard.index, refusal))
                continue
            was_cut = was_cut or some[1]
            found += some[0]
        if shards and len(failures) == len(shards):
            raise _all_failed(failures)
        answer: Json = {"took": 1, "timed_out": False}
        if pit:
            answer["pit_id"] = pit
        if was_cut:
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
        """Keep what the indices hold now, for some seconds."""
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
        """What the indices know of the fields."""
        indices = self._indices.resolve(expression)
        fields: dict[str, Json] = {}
        for name in names:
            where: dict[str, list[str]] = {}
            for index in indices:
                kind = index.mapping.kinds.get(name)
                if kind is None and index.mapping.is_parent(name):
                    kind = "object"
                if kind is not None:
                    where.setdefault(kind, []).append(index.name)
            for kind, held in where.items():
                told: Json = {
                    "type": kind,
                    "metadata_field": False,
                    "searchable": kind != "object",
                    "aggregatable": kind not in ("object", "text"),
                }
                if len(where) > 1:
                    told["indices"] = held
                fields.setdefault(name, {})[kind] = told
        return {"indices": [index.name for index in indices], "fields": fields}

    def _seen(self, expression: str | None, body: Json) -> tuple[list[Shard], str]:
        if "pit" not in body:
            return self._indices.shards(expression or "*"), ""
        only(body["pit"], {"id", "keep_alive"}, "pit")
        name = body["pit"]["id"]
        held = self._points.get(name)
        if held is None or held[1] <= self._clock():
            raise RefusalError(404, "search_context_missing_exception", "No search context found for id")
        if keep := body["pit"].get("keep_alive"):
            self._points[name] = held[0], self._clock() + seconds_of(keep)
        return held[0], name

    def _hits(
        self, found: list[Document], body: Json, sort: list[Any], kinds: Mapping[str, Mapping[str, str]]
    ) -> Json:
        size = body.get("size", 10)
        if size > _MOST_HITS:
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
        hits["hits"] = hits_of(rest, shown, size, lambda index: kinds[index]) if size else []
        return hits


def seconds_of(text: str) -> float:
    """A time like `1m`, `30s` or `500ms` in seconds."""
    for unit, size in (("ms", 0.001), ("s", 1.0), ("m", 60.0), ("h", 3600.0)):
        if text.endswith(unit) and text[: -len(unit)].isdigit():
            return int(text[: -len(unit)]) * size
    raise RefusalError(400, "illegal_argument_exception", f"failed to parse [{text}] as a time value")


def _matching(shard: Shard, body: Json) -> tuple[list[Document], bool]:
    """The shard's documents that fit, and whether the search stopped at `terminate_after`."""
    query = body.get("query", {"match_all": {}})
    test = query_test(query, shard.kinds)
    enough = body.get("terminate_after", 0)
    found: list[Document] = []
    for document in shard.between(*times_of(query)):
        if test(document):
            found.append(document)
            if enough and len(found) >= enough:
                return found, True
    return found, False


def _failure(index: str, refusal: RefusalError) -> Json:
    reason = {"type": refusal.kind, "reason": refusal.reason, "index": index}
    return {"shard": 0, "index": index, "node": "look-alike", "reason": reason}


def _all_failed(failures: list[Json]) -> RefusalError:
    first = failures[0]["reason"]
    return RefusalError(400, first["type"], first["reason"])
