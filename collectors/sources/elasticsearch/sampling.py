"""This file fetches lines: the newest few of each group, and pages of a window up to a cap."""

from collections.abc import AsyncIterator, Sequence

from collectors.facts.labels import Labels
from collectors.sources.elasticsearch.bodies import Json, newest_first, shown
from collectors.sources.elasticsearch.client import TooLargeError
from collectors.sources.elasticsearch.counting import LineGroup
from collectors.sources.elasticsearch.hits import LogLine, cut, distinct, line_of
from collectors.sources.elasticsearch.log_search import LogSearch

_TEXTS = 3  # of a sample
_TEXT_LENGTH = 500  # characters
_AT_ONCE = 50  # groups of one call
_WITH_TEXTS = 200  # groups that get texts, the largest first; the others are only counted
_PAGE = 500  # lines of one call
_HITS = ("sort", "fields", "ignored_field_values")


async def texts_of(search: LogSearch, groups: Sequence[LineGroup]) -> dict[Labels, tuple[str, ...]]:
    """Up to three of the newest lines of each of the largest groups, redacted and cut.

    A group whose lines are too large to be fetched says so in their place: its count still stands.
    """
    found: dict[Labels, tuple[str, ...]] = {}
    largest = sorted(groups, key=lambda group: -group.count)[:_WITH_TEXTS]
    for start in range(0, len(largest), _AT_ONCE):
        some = largest[start : start + _AT_ONCE]
        try:
            lines = await newest_of(search, some, size=_TEXTS, words=())
        except TooLargeError:
            found |= {group.labels: ("(these lines are too large to be shown)",) for group in some}
            continue
        for group, own in zip(some, lines, strict=True):
            found[group.labels] = distinct(cut(line.text, _TEXT_LENGTH) for line in own)
    return found


async def newest_of(
    search: LogSearch, groups: Sequence[LineGroup], *, size: int, words: Sequence[str]
) -> list[list[LogLine]]:
    """The newest `size` lines of each group, at most 100, in one call, labelled with `words`."""
    fields = search.fields
    newest: Json = {
        "size": size,
        "sort": newest_first(fields),
        "_source": False,
        "fields": shown(fields, words),
    }
    asked = {str(number): group.filter() for number, group in enumerate(groups)}
    aggs: Json = {"groups": {"filters": {"filters": asked}, "aggs": {"newest": {"top_hits": newest}}}}
    body: Json = {"size": 0, "track_total_hits": False, "query": search.query, "aggs": aggs}
    kept = [f"aggregations.groups.buckets.*.newest.hits.hits.{part}" for part in _HITS]
    answer = await search.client.search(body, keep=kept)
    buckets = answer.get("aggregations", {}).get("groups", {}).get("buckets", {})
    found = []
    for number in asked:
        hits = buckets.get(number, {}).get("newest", {}).get("hits", {}).get("hits", [])
        found.append([line_of(hit, fields, words, search.redact) for hit in hits])
    return found


async def pages_of(search: LogSearch, query: Json, *, cap: int) -> AsyncIterator[list[LogLine]]:
    """Pages of the query's lines, the newest first, until all or `cap` were given; the pages see one moment's index.

    Holds one page at a time. A page over the byte cap is asked for again in smaller pieces.
    """
    fields, size, given = search.fields, _PAGE, 0
    after: list[object] | None = None
    async with search.client.point_in_time() as pit:
        while given < cap:
            body: Json = {
                "pit": pit,
                "size": min(size, cap - given),
                "track_total_hits": False,
                "query": query,
                "sort": newest_first(fields),
                "_source": False,
                "fields": shown(fields, search.by),
            }
            if after is not None:
                body["search_after"] = after
            try:
                answer = await search.client.search(body, keep=[f"hits.hits.{part}" for part in _HITS])
            except TooLargeError:
                if size == 1:
                    raise
                size = max(1, size // 8)
                continue
            hits = answer.get("hits", {}).get("hits", [])
            if hits:
                yield [line_of(hit, fields, search.by, search.redact) for hit in hits]
                after = hits[-1]["sort"]
            given += len(hits)
            if len(hits) < body["size"]:
                return
            pit["id"] = answer.get("pit_id", pit["id"])
