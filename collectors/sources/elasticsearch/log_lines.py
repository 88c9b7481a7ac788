"""This file reads log lines for people, and what the server is."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from collectors.sources.elasticsearch.bodies import (
    Json,
    Window,
    equal,
    in_all,
    in_any,
    in_window,
    shown,
)
from collectors.sources.elasticsearch.client import ElasticsearchClient
from collectors.sources.elasticsearch.fields import FieldMap
from collectors.sources.elasticsearch.hits import LogLine, line_of
from collectors.sources.elasticsearch.log_search import LogSearch

LINE_WORDS = ("node", "namespace", "pod", "container", "component", "level")
_READ_ONLY = ("message",)  # words that nobody groups by


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerFacts:
    """What a server is and whether we can use it. `versions` is empty when we may not ask for them.

    `fields`: our words and the document fields behind them; `missing`: the words without one, and why.
    `newest`: the time of the newest line of the last week, None when there is none.
    """

    versions: tuple[str, ...]
    shards: int
    newest: datetime | None
    fields: Mapping[str, tuple[str, ...]]
    missing: Mapping[str, str]


async def lines_in(
    search: LogSearch, where: Mapping[str, Sequence[str]], *, size: int, oldest: bool = False
) -> list[LogLine]:
    """The newest (or the oldest) matching lines whose words have these values exactly, in the order of time."""
    fields, filters = search.fields, [search.query]
    for word, values in where.items():
        filters.append(in_any([equal(name, list(values)) for name in fields.grouping(word)]))
    order = "asc" if oldest else "desc"
    sort: list[Json] = [{fields.time: {"order": order, "unmapped_type": "date"}}]
    sort += [{name: {"order": order, "unmapped_type": "long"}} for name in fields.exact.get("offset", ())]
    sort.append({"_doc": {"order": order}})
    known = [word for word in LINE_WORDS if word in fields.exact]
    body: Json = {
        "size": size,
        "track_total_hits": False,
        "query": in_all(filters),
        "sort": sort,
        "_source": False,
        "fields": shown(fields, known),
    }
    answer = await search.client.search(body, keep=("hits.hits.fields", "hits.hits.ignored_field_values"))
    hits = answer.get("hits", {}).get("hits", [])
    found = [line_of(hit, fields, known, search.redact) for hit in hits]
    return found if oldest else found[::-1]


async def server_facts(client: ElasticsearchClient, fields: FieldMap, at: datetime) -> ServerFacts:
    """Ask the server what it is, and the index how fresh it is. Raises SourceError when it cannot be read."""
    week = in_window(fields, Window(since=at - timedelta(days=7), until=at + timedelta(days=7)))
    body: Json = {
        "size": 0,
        "track_total_hits": False,
        "query": week,
        "aggs": {"newest": {"max": {"field": fields.time}}},
    }
    answer = await client.search(body, keep=("aggregations.newest.value",))
    newest = answer.get("aggregations", {}).get("newest", {}).get("value")
    return ServerFacts(
        versions=await client.versions(),
        shards=answer["_shards"]["total"],
        newest=None if newest is None else datetime.fromtimestamp(newest / 1000, UTC),
        fields={**fields.read, **fields.exact},
        missing={
            word: reason
            for word, reason in fields.unusable.items()
            if word not in _READ_ONLY or word not in fields.read
        },
    )
