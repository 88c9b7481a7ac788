"""A log search, and the reading of its lines: the newest of each group, pages of a window, lines with exact labels."""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from collectors.facts.labels import Labels
from collectors.facts.queries import LogLevel
from collectors.facts.results import SourceError, TooLargeError
from collectors.sources.elasticsearch.aggregations import Filters
from collectors.sources.elasticsearch.bodies import (
    Window,
    equal,
    in_all,
    in_any,
    in_window,
    newest_first,
    shown,
)
from collectors.sources.elasticsearch.client import ElasticsearchClient
from collectors.sources.elasticsearch.fields import FieldMap
from collectors.sources.elasticsearch.levels import at_level
from collectors.sources.elasticsearch.log_lines import UNIT, StoredLine, line_of
from collectors.sources.elasticsearch.wire import Hit, Json, hit_of

LINE_LABELS = ("node", "namespace", "pod", "container", "component", "level")
_PAGE = 500  # lines of one request
_HITS = ("sort", "fields", "ignored_field_values")


@dataclass(frozen=True, slots=True, kw_only=True)
class LogPage:
    """The lines of one page, the newest first. `hits` also counts those that cannot be read."""

    lines: tuple[StoredLine, ...]
    hits: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LogSearch:
    """The lines of a window that match, read through one client.

    `match` is the filter of the lines, `level` their lowest level, if any; `by` are their labels; `speaks` says of
    the labels of a line whether it counts, and under which labels; `redact` removes secrets from texts; `skip` is
    called with the reason for each hit that cannot be read.
    """

    client: ElasticsearchClient
    fields: FieldMap
    match: Json
    window: Window
    redact: Callable[[str], str]
    skip: Callable[[str], None]
    by: tuple[str, ...] = ()
    level: LogLevel | None = None
    speaks: Callable[[Labels], Labels | None] | None = None  # labels of whose lines count; None: of all
    skipped: list[str] = field(default_factory=list)  # the reasons, so far

    def counted(self, labels: Labels) -> Labels | None:
        """Return the labels under which a line with these counts; None if it does not."""
        return labels if self.speaks is None else self.speaks(labels)

    @property
    def query(self) -> Json:
        """The query of the matching lines in the window."""
        return self.within([self.window])

    def within(self, windows: Sequence[Window]) -> Json:
        """Return the query of the matching lines in any of these windows."""
        if self.level is None:
            return in_all([self.match, in_any([in_window(self.fields, window) for window in windows])])
        return in_all([self.match, at_level(self.level, self.fields, windows)])

    async def newest(
        self, filters: Sequence[Json], *, size: int, by: Sequence[str] = ()
    ) -> list[tuple[StoredLine, ...]]:
        """Return the newest `size` lines (at most 100) of each filter, in one request, with the labels `by`."""
        hits: Json = {
            "size": size,
            "sort": newest_first(self.fields),
            "_source": False,
            "fields": shown(self.fields, by),
        }
        named = {str(number): one for number, one in enumerate(filters)}
        aggs: Json = {"groups": {"filters": {"filters": named}, "aggs": {"newest": {"top_hits": hits}}}}
        body: Json = {"size": 0, "track_total_hits": False, "query": self.query, "aggs": aggs}
        keep = [f"aggregations.groups.buckets.*.newest.hits.hits.{part}" for part in _HITS]
        found = (await self.client.search(body, keep=keep)).aggregation("groups", Filters)
        return [tuple(line for _, line in self._read(found.hits(name), by)) for name in named]

    async def pages(self, query: Json, *, cap: int) -> AsyncIterator[LogPage]:
        """Yield pages of the query's lines, the newest first, up to `cap` lines, from one point in time of the index.

        It holds one page at a time. A page over the byte cap is requested again in smaller pages.
        """
        size, read = _PAGE, 0
        after: object = None
        async with self.client.point_in_time() as pit:
            while read < cap:
                body: Json = {
                    "pit": pit,
                    "size": min(size, cap - read),
                    "track_total_hits": False,
                    "query": query,
                    "sort": newest_first(self.fields),
                    "_source": False,
                    "fields": shown(self.fields, self.by),
                }
                if after is not None:
                    body["search_after"] = after
                try:
                    response = await self.client.search(body, keep=[f"hits.hits.{part}" for part in _HITS])
                except TooLargeError:
                    if size == 1:
                        raise
                    size = max(1, size // 8)
                    continue
                found = self._read(response.hits, self.by)
                yield LogPage(lines=tuple(line for _, line in found), hits=len(response.hits))
                read += len(response.hits)
                if len(response.hits) < body["size"]:
                    return
                after = found[-1][0].sort
                if after is None:
                    raise SourceError(
                        "a hit of a page has no sort values, so that the next page cannot be read"
                    )
                pit["id"] = response.pit_id or pit["id"]

    async def lines(
        self, where: Mapping[str, Sequence[str]], *, size: int, oldest: bool = False
    ) -> list[StoredLine]:
        """Return the newest (or oldest) matching lines with exactly these label values, in order of time."""
        fields, filters = self.fields, [self.query]
        for label, values in where.items():
            if label == "component":
                values = (*values, *(f"{value}{UNIT}" for value in values))
            filters.append(in_any([equal(name, list(values)) for name in fields.grouping(label)]))
        order = "asc" if oldest else "desc"
        sort: list[Json] = [{fields.time: {"order": order, "unmapped_type": "date"}}]
        sort += [{name: {"order": order, "unmapped_type": "long"}} for name in fields.exact.get("offset", ())]
        sort.append({"_doc": {"order": order}})
        known = [label for label in LINE_LABELS if label in fields.exact]
        body: Json = {
            "size": size,
            "track_total_hits": False,
            "query": in_all(filters),
            "sort": sort,
            "_source": False,
            "fields": shown(fields, known),
        }
        keep = ("hits.hits.fields", "hits.hits.ignored_field_values")
        found = self._read((await self.client.search(body, keep=keep)).hits, known)
        lines = [line for _, line in found]
        return lines if oldest else lines[::-1]

    def _read(self, hits: Sequence[Any], by: Sequence[str]) -> list[tuple[Hit, StoredLine]]:
        """Decode the hits one by one and skip the odd ones. Raises SourceError when there is no other."""
        found: list[tuple[Hit, StoredLine]] = []
        reason = ""
        for one in hits:
            try:
                hit = hit_of(one)
                found.append((hit, line_of(hit, self.fields, by, self.redact)))
            except ValueError as error:
                reason = str(error)
                self.skipped.append(reason)
                self.skip(reason)
        if hits and not found:
            raise SourceError(f"none of the {len(hits)} hits can be read: {reason}")
        return found
