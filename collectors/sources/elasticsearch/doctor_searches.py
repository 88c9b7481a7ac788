"""Searches of the doctor: which fields recent lines fill, and whether they are found by their words.

A shipper's template maps more fields than it fills; an analyzer may keep punctuation, or drop numbers.
"""

import re
from collections.abc import Iterator, Mapping, Sequence

from collectors.logs.log_store import Window
from collectors.sources.elasticsearch.aggregations import Filters
from collectors.sources.elasticsearch.client import ElasticsearchClient
from collectors.sources.elasticsearch.fields.field_map import FieldMap
from collectors.sources.elasticsearch.queries.bodies import in_all, in_window, newest_first
from collectors.sources.elasticsearch.wire import Json, SourceHit, source_of

_LINES = 20
_SURE = 3  # lines of one field that are not found by a word of theirs
# `bus` of `off the bus.`, and `e1123` of the header `E1123 12:00:00`: Elasticsearch's own analyzer has them as words.
_BEFORE_SIGN = re.compile(r"(?<!\S)([A-Za-z]{3,20})[.,:;!)](?!\S)")
_WITH_NUMBER = re.compile(r"(?<!\S)([A-Za-z]{1,10}[0-9]{1,10})(?!\S)")


async def filled_fields(
    client: ElasticsearchClient, fields: FieldMap, window: Window
) -> Mapping[str, tuple[str, ...]]:
    """Return the fields of each label that lines of the window have, in one request. Raises SourceError."""
    names = sorted({name for names in fields.read.values() for name in names})
    exist: Json = {str(number): {"exists": {"field": name}} for number, name in enumerate(names)}
    body: Json = {
        "size": 0,
        "track_total_hits": False,
        "query": in_window(fields, window),
        "aggs": {"fields": {"filters": {"filters": exist}}},
    }
    answer = await client.search(body, keep=["aggregations.fields.buckets.*.doc_count"])
    counts = answer.aggregation("fields", Filters)
    held = {name for number, name in enumerate(names) if counts.count(str(number))}
    return {label: tuple(name for name in read if name in held) for label, read in fields.read.items()}


async def unsearchable_fields(client: ElasticsearchClient, fields: FieldMap, window: Window) -> Sequence[str]:
    """Return the fields of texts whose recent lines are not found by their own words. Raises SourceError."""
    names = sorted(fields.texts)
    body: Json = {
        "size": _LINES,
        "track_total_hits": False,
        "query": in_window(fields, window),
        "sort": newest_first(fields),
        "_source": True,
    }
    answer = await client.search(body, keep=("hits.hits._id", "hits.hits._index", "hits.hits._source"))
    hits = [hit for hit in map(source_of, answer.hits) if hit is not None]
    tests = [(name, hit, word) for name in names for hit in hits for word in _words_of(hit, name)]
    if not tests:
        return []
    bodies: list[Json] = [
        {
            "size": 0,
            "track_total_hits": 1,
            "query": in_all([{"ids": {"values": [hit.id]}}, {"term": {name: {"value": word}}}]),
        }
        for name, hit, word in tests
    ]
    answers = await client.searches(bodies, keep=("hits.total.value",))
    found: dict[tuple[str, bool], list[int]] = {}
    for (name, _, word), one in zip(tests, answers, strict=True):
        found.setdefault((name, word.isalpha()), []).append(one.total)
    bad = {name for (name, _), totals in found.items() if len(totals) >= _SURE and not any(totals)}
    return sorted(bad)


def _words_of(hit: SourceHit, name: str) -> Iterator[str]:
    """Yield a word before a sign, and one with a number, of the line in this field."""
    text = hit.at(name)
    for shape in (_BEFORE_SIGN, _WITH_NUMBER):
        if isinstance(text, str) and (match := shape.search(text)) is not None:
            yield match.group(1).lower()
