"""The log store of Elasticsearch: counts, the newest of each group, pages of a window, lines with exact labels."""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from typing import Any

from collectors.facts.labels import Labels
from collectors.facts.results import SourceError, TooLargeError
from collectors.facts.sentences import counted, said_by, sentence
from collectors.logs.line_labels import spellings
from collectors.logs.line_patterns import LinePattern
from collectors.logs.log_store import LineGroup, LineSearch, LogPage, Window
from collectors.logs.stored_lines import StoredLine
from collectors.sources.elasticsearch.aggregations import Filters
from collectors.sources.elasticsearch.client import ElasticsearchClient
from collectors.sources.elasticsearch.document_counts import Counting, filter_of
from collectors.sources.elasticsearch.fields.field_map import FieldMap
from collectors.sources.elasticsearch.hits import line_of
from collectors.sources.elasticsearch.queries.bodies import (
    equal,
    in_all,
    in_any,
    in_window,
    newest_first,
    phrase,
    shown,
)
from collectors.sources.elasticsearch.queries.levels import at_level
from collectors.sources.elasticsearch.queries.matches import match_query, query_string
from collectors.sources.elasticsearch.wire import Hit, Json, hit_of

LINE_LABELS = ("node", "namespace", "pod", "container", "component", "level")
_PAGE = 500  # lines of one request
_HITS = ("sort", "fields", "ignored_field_values")


class ElasticsearchStore:
    """The lines of the index, with the fields that it has at a moment.

    `redact` removes secrets from texts; `skip` is called with the reason for each hit that cannot be read.
    """

    def __init__(
        self,
        client: ElasticsearchClient,
        fields: FieldMap,
        *,
        name: str,
        redact: Callable[[str], str],
        skip: Callable[[str], None],
    ) -> None:
        self.name = name
        self.fields = fields
        self.skipped: list[str] = []
        self._client = client
        self._redact = redact
        self._skip = skip

    def has(self, label: str) -> bool:
        return label in self.fields.exact

    def check_phrases(self, by: Sequence[str]) -> None:
        if keyword_only := sorted(self.fields.without_phrases & set(self.fields.reading("message"))):
            raise SourceError(
                sentence(
                    "`{field}` is not mapped as text, so it cannot be searched: `novel` needs a text field",
                    field=keyword_only[0],
                ),
                temporary=False,
            )
        for label in by:
            self.fields.grouping(label)

    async def count(self, search: LineSearch, windows: Sequence[Window], *, cap: int) -> Sequence[LineGroup]:
        counting, query = self._counting(windows), self._query(search, windows)
        if not search.by:
            return [LineGroup(labels=Labels(), counts=await counting.ungrouped(query))]
        return [group async for group in counting.groups(query, search.by, cap=cap)]

    async def totals(self, windows: Sequence[Window]) -> tuple[int, ...]:
        query = in_any([in_window(self.fields, window) for window in windows])
        return await self._counting(windows).ungrouped(query)

    async def newest(
        self, search: LineSearch, groups: Sequence[LineGroup], *, size: int, by: Sequence[str] = ()
    ) -> Sequence[tuple[StoredLine, ...]]:
        hits: Json = {
            "size": size,
            "sort": newest_first(self.fields),
            "_source": False,
            "fields": shown(self.fields, by),
        }
        named = {str(number): filter_of(group) for number, group in enumerate(groups)}
        aggs: Json = {"groups": {"filters": {"filters": named}, "aggs": {"newest": {"top_hits": hits}}}}
        query = self._query(search, [search.window])
        body: Json = {"size": 0, "track_total_hits": False, "query": query, "aggs": aggs}
        keep = [f"aggregations.groups.buckets.*.newest.hits.hits.{part}" for part in _HITS]
        found = (await self._client.search(body, keep=keep)).aggregation("groups", Filters)
        return [tuple(line for _, line in self._read(found.hits(name), by)) for name in named]

    async def pages(
        self, search: LineSearch, *, cap: int, but_not: Sequence[LinePattern] = ()
    ) -> AsyncIterator[LogPage]:
        """Yield pages from one point in time of the index. It holds one page at a time.

        A page over the byte cap is requested again in smaller pages.
        """
        query = self._query(search, [search.window])
        if but_not:
            query = in_all([query], but_not=[self._lines_like(one) for one in but_not])
        size, read = _PAGE, 0
        after: object = None
        async with self._client.point_in_time() as pit:
            while read < cap:
                body: Json = {
                    "pit": pit,
                    "size": min(size, cap - read),
                    "track_total_hits": False,
                    "query": query,
                    "sort": newest_first(self.fields),
                    "_source": False,
                    "fields": shown(self.fields, search.by),
                }
                if after is not None:
                    body["search_after"] = after
                try:
                    response = await self._client.search(body, keep=[f"hits.hits.{part}" for part in _HITS])
                except TooLargeError:
                    if size == 1:
                        raise
                    size = max(1, size // 8)
                    continue
                found = self._read(response.hits, search.by)
                yield LogPage(lines=tuple(line for _, line in found), hits=len(response.hits))
                read += len(response.hits)
                if len(response.hits) < body["size"]:
                    return
                after = found[-1][0].sort
                if after is None:
                    raise SourceError(
                        sentence("a hit of a page has no sort values, so that the next page cannot be read")
                    )
                pit["id"] = response.pit_id or pit["id"]

    async def seen(self, patterns: Sequence[LinePattern], window: Window) -> Sequence[bool]:
        bodies: list[Json] = [
            {
                "size": 0,
                "track_total_hits": 1,
                "terminate_after": 1,  # one line is enough
                "query": in_all([in_window(self.fields, window), self._lines_like(one)]),
            }
            for one in patterns
        ]
        responses = await self._client.searches(bodies, keep=("hits.total.value",))
        return [bool(response.total) for response in responses]

    async def read(
        self,
        search: LineSearch,
        where: Mapping[str, Sequence[str]],
        *,
        size: int,
        skip: int = 0,
        oldest: bool = False,
    ) -> LogPage:
        fields, filters = self.fields, [self._query(search, [search.window])]
        for label, values in where.items():
            spelled = list(spellings(label, values))
            filters.append(in_any([equal(name, spelled) for name in fields.grouping(label)]))
        order = "asc" if oldest else "desc"
        sort: list[Json] = [{fields.time: {"order": order, "unmapped_type": "date"}}]
        sort += [{name: {"order": order, "unmapped_type": "long"}} for name in fields.exact.get("offset", ())]
        sort += [{"_seq_no": {"order": order}}, {"_doc": {"order": order}}]
        known = [label for label in LINE_LABELS if label in fields.exact]
        body: Json = {
            "from": skip,
            "size": size,
            "track_total_hits": False,
            "query": in_all(filters),
            "sort": sort,
            "_source": False,
            "fields": shown(fields, known),
        }
        keep = ("hits.hits.fields", "hits.hits.ignored_field_values")
        hits = (await self._client.search(body, keep=keep)).hits
        return LogPage(lines=tuple(line for _, line in self._read(hits, known)), hits=len(hits))

    def _counting(self, windows: Sequence[Window]) -> Counting:
        return Counting(self._client, self.fields, windows)

    def _query(self, search: LineSearch, windows: Sequence[Window]) -> Json:
        """Return the query of the matching lines in any of these windows."""
        match = in_all([match_query(search.match, self.fields), query_string(search.own_match, self.fields)])
        if search.level is None:
            return in_all([match, in_any([in_window(self.fields, window) for window in windows])])
        return in_all([match, at_level(search.level, self.fields, windows)])

    def _lines_like(self, pattern: LinePattern) -> Json:
        return in_all([phrase(run, self.fields) for run in pattern.runs])

    def _read(self, hits: Sequence[Any], by: Sequence[str]) -> list[tuple[Hit, StoredLine]]:
        """Decode the hits one by one and skip the odd ones. Raises SourceError when there is no other."""
        found: list[tuple[Hit, StoredLine]] = []
        reason = ""
        for one in hits:
            try:
                hit = hit_of(one)
                found.append((hit, line_of(hit, self.fields, by, self._redact)))
            except ValueError as error:
                reason = said_by(error)
                self.skipped.append(reason)
                self._skip(reason)
        if hits and not found:
            raise SourceError(
                counted(
                    "the only hit cannot be read: {reason}",
                    "none of the {count} hits can be read: {reason}",
                    count=len(hits),
                    reason=reason,
                )
            )
        return found
