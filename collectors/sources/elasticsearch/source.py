"""The Elasticsearch source: log searches for rules, and log lines for people."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TypeVar

from collectors.facts.findings import Finding
from collectors.facts.queries import LogQuery, Query
from collectors.facts.results import Blind, LineLabels, LinePage, LogLine, QueryResult, Series, SourceError
from collectors.facts.sentences import said_by, sentence
from collectors.facts.topology import Topology
from collectors.logs.answering import LogLimits, answer_log_query
from collectors.logs.line_pages import exact_values, read_page, shown_in_order
from collectors.logs.log_store import LineSearch, LogPage, Window
from collectors.sources.elasticsearch.client import ElasticsearchClient
from collectors.sources.elasticsearch.diagnosis import diagnose, unsearchable_text
from collectors.sources.elasticsearch.doctor_searches import filled_fields, unsearchable_fields
from collectors.sources.elasticsearch.field_finder import FieldFinder
from collectors.sources.elasticsearch.fields.field_map import FieldMap
from collectors.sources.elasticsearch.line_store import ElasticsearchStore
from collectors.sources.elasticsearch.options import ElasticsearchOptions
from collectors.sources.source_port import query_each_step
from collectors.unreadable_items import UnreadableItems

_RECENT = timedelta(hours=1)  # whose lines show which fields are filled
_CLOCKS_DIFFER = timedelta(days=1)  # a line with a time in the future counts too

T = TypeVar("T")


class ElasticsearchSource:
    """Searches the logs. A search that fails or is incomplete is Blind, with the reason and what to do.

    The number of matching lines has no effect on its cost: the server counts them, and the lines that are read are
    capped in number and bytes. It connects on the first request; close it when done.
    """

    query_types: frozenset[type[Query]] = frozenset({LogQuery})

    def __init__(self, options: ElasticsearchOptions, *, unreadable: UnreadableItems | None = None) -> None:
        self._options = options
        self._unreadable = unreadable or UnreadableItems()
        self._client = ElasticsearchClient(options)
        self._finder = FieldFinder(self._client, options.fields, options.index)
        self._limits = LogLimits(lag=options.lag, groups_cap=options.groups_cap, lines_cap=options.lines_cap)
        self._topology: Callable[[], Topology] | None = None

    @property
    def name(self) -> str:
        return self._options.name

    async def __aenter__(self) -> "ElasticsearchSource":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()

    def follow(self, topology: Callable[[], Topology]) -> None:
        """Compare what lines say of their node with the nodes of the cluster from now on."""
        self._topology = topology
        self._finder.follow(topology)

    async def query(self, query: LogQuery, *, at: datetime) -> QueryResult:
        """Run a rule's log search as of `at`, as `answer_log_query` describes it."""
        try:
            return await self._within_time(
                lambda: answer_log_query(
                    query, at, open_store=self._open, limits=self._limits, topology=self._topology
                )
            )
        except SourceError as error:
            return Blind(
                source=self._options.name, at=at, reason=said_by(error), is_lasting=not error.temporary
            )

    async def health(self, *, at: datetime) -> Blind | None:
        """Return Blind when an empty result cannot be trusted. Call it once per cycle.

        A log shipper that has stopped looks the same as logs without problems.
        """
        options = self._options
        window = Window(since=at - options.stale_after, until=at + _CLOCKS_DIFFER)

        async def newest() -> LogPage:
            return await (await self._open(at)).read(LineSearch(window=window), {}, size=1)

        if not options.stale_after:
            return None
        try:
            if (await self._within_time(newest)).lines:
                return None
        except SourceError as error:
            return Blind(source=options.name, at=at, reason=said_by(error), is_lasting=not error.temporary)
        reason = sentence(
            "it answers, but has no line of the last {stale_after}: check that the log shipper "
            "runs and writes to elasticsearch.index",
            stale_after=options.stale_after,
        )
        return Blind(source=options.name, at=at, reason=reason, is_lasting=True)

    async def diagnose(self, queries: Mapping[str, Query], *, at: datetime) -> Sequence[Finding]:
        """Return whether it answers, has the index and fresh lines, and the fields that these queries group by."""
        fields: FieldMap | SourceError
        try:
            fields = await self._finder.at(at)
        except SourceError as error:
            fields = error
        if isinstance(fields, SourceError):
            return await diagnose(self._client, self._options.index, fields, {}, None, queries)
        recent = Window(since=at - _RECENT, until=at + _CLOCKS_DIFFER)
        try:
            filled = await self._within_time(lambda: filled_fields(self._client, fields, recent))
        except SourceError:
            filled = {}  # the health says why
        try:
            unsearchable = await self._within_time(lambda: unsearchable_fields(self._client, fields, recent))
        except SourceError:
            unsearchable = ()
        health = await self.health(at=at)
        found = await diagnose(self._client, self._options.index, fields, filled, health, queries)
        return [*found, *(unsearchable_text(name, queries) for name in unsearchable)]

    async def hole(self, *, at: datetime) -> Blind | None:
        """Return None: lines keep their own time and arrive later, so nothing is missing of the past."""
        return None

    async def range(
        self, query: LogQuery, *, start: datetime, end: datetime, step: timedelta
    ) -> tuple[Series, ...]:
        """Return the counts over time, one search per step. Raises SourceError."""
        return await query_each_step(self, query, start=start, end=end, step=step)

    async def lines(
        self,
        *,
        where: LineLabels,
        at: datetime,
        match: str = "",
        since: datetime | None = None,
        until: datetime | None = None,
        tail: int = 100,
        around: datetime | None = None,
    ) -> tuple[LogLine, ...]:
        """Return the newest `tail` lines with these labels (pod, node, namespace, training, …), oldest first.

        `since` and `until` default to an hour before `at`, and to `at`. With `around`, half of the lines are from
        before that moment and half from then on. `training` is namespace/name. `match`: an additional query string.
        Returns at most `lines_cap` lines of the options. Raises SourceError.
        """
        exact = exact_values(where)
        size = max(1, min(tail, self._options.lines_cap))
        end = until or at
        window = Window(since=since or (around or end) - timedelta(hours=1), until=end)

        async def read() -> tuple[LogLine, ...]:
            store, search = await self._open(at), LineSearch(own_match=match, window=window)
            if around is None:
                return shown_in_order(await store.read(search, exact, size=size))
            earlier = replace(search, window=Window(since=window.since, until=around))
            later = replace(search, window=Window(since=around, until=until or around + timedelta(hours=1)))
            before = await store.read(earlier, exact, size=(size + 1) // 2)
            after = await store.read(later, exact, size=max(1, size // 2), oldest=True)
            return (*shown_in_order(before), *(line.shown() for line in after.lines))

        return await self._within_time(read)

    async def page(
        self, *, where: LineLabels, since: datetime, until: datetime, size: int = 200, after: str = ""
    ) -> LinePage:
        """Return a page of the lines with these labels between two times, the newest first. Raises SourceError."""

        async def read() -> LinePage:
            window = Window(since=since, until=until)
            return await read_page(await self._open(until), where, window, size=size, after=after)

        return await self._within_time(read)

    async def _within_time(self, query: Callable[[], Awaitable[T]]) -> T:
        limit = self._options.timeout.total_seconds()
        try:
            async with asyncio.timeout(limit):
                return await query()
        except TimeoutError as error:
            raise SourceError(
                sentence(
                    "{source} did not answer within {limit:g} s: narrow the search, or raise the timeout",
                    source=self._options.name,
                    limit=limit,
                )
            ) from error
        except SourceError:
            # The mapping may have changed; the next query reads it again.
            self._finder.forget()
            raise

    async def _open(self, at: datetime) -> ElasticsearchStore:
        return ElasticsearchStore(
            self._client,
            await self._finder.at(at),
            name=self._options.name,
            redact=self._options.redact,
            skip=lambda reason: self._unreadable.skip(self._options.name, reason),
        )
