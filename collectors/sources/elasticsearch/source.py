"""The Elasticsearch source: log searches for rules, and log lines for people."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TypeVar

from collectors.facts.clock import humanize
from collectors.facts.findings import Finding
from collectors.facts.labels import Labels
from collectors.facts.queries import LogLevel, LogQuery, Query
from collectors.facts.results import Blind, LogLine, QueryResult, Sample, Seen, Series, SourceError
from collectors.facts.topology import Topology
from collectors.sources.elasticsearch.bodies import Window, matching
from collectors.sources.elasticsearch.client import ElasticsearchClient
from collectors.sources.elasticsearch.counting import Counting, LineGroup, count_different, usual_of
from collectors.sources.elasticsearch.diagnosis import diagnose, unsearchable_text
from collectors.sources.elasticsearch.extracting import extracted
from collectors.sources.elasticsearch.field_finder import FieldFinder
from collectors.sources.elasticsearch.fields import FieldMap
from collectors.sources.elasticsearch.filled_fields import filled_fields
from collectors.sources.elasticsearch.log_lines import StoredLine
from collectors.sources.elasticsearch.log_search import LogSearch
from collectors.sources.elasticsearch.novelty import novel
from collectors.sources.elasticsearch.of_host import of_host
from collectors.sources.elasticsearch.options import ElasticsearchOptions
from collectors.sources.elasticsearch.samples import samples_of
from collectors.sources.elasticsearch.searchability import unsearchable_fields
from collectors.sources.source_port import query_each_step
from collectors.unreadable_items import UnreadableItems

_SEASONS = 7
_RECENT = timedelta(hours=1)  # whose lines show which fields are filled
_CLOCKS_DIFFER = timedelta(days=1)  # a line with a time in the future counts too
_MOST_VALUES = 1_000  # of one label in one search

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
        """Run a rule's log search as of `at`: one sample for each group whose count is above the threshold.

        Labels are those of `by`, the named groups of `extract`, and `pattern` for `novel`; the value is the count of
        lines; `texts` are up to three of the newest lines, redacted and made one line each.
        """
        try:
            return await self._within_time(lambda: self._answer(query, at))
        except SourceError as error:
            return Blind(source=self._options.name, at=at, reason=str(error), is_lasting=not error.temporary)

    async def health(self, *, at: datetime) -> Blind | None:
        """Return Blind when an empty result cannot be trusted. Call it once per cycle.

        A log shipper that has stopped looks the same as logs without problems.
        """
        options = self._options
        window = Window(since=at - options.stale_after, until=at + _CLOCKS_DIFFER)

        async def newest() -> list[StoredLine]:
            return await (await self._search("", window, at=at)).lines({}, size=1)

        if not options.stale_after:
            return None
        try:
            if await self._within_time(newest):
                return None
        except SourceError as error:
            return Blind(source=options.name, at=at, reason=str(error), is_lasting=not error.temporary)
        reason = (
            f"it answers, but has no line of the last {humanize(options.stale_after)}: "
            "check that the log shipper runs and writes to elasticsearch.index"
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
        where: Mapping[str, str | Sequence[str]],
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
        exact = _exact(where)
        size = max(1, min(tail, self._options.lines_cap))
        end = until or at
        window = Window(since=since or (around or end) - timedelta(hours=1), until=end)

        async def read() -> tuple[LogLine, ...]:
            search = await self._search(match, window, at=at)
            if around is None:
                return tuple(line.shown() for line in await search.lines(exact, size=size))
            earlier = replace(search, window=Window(since=window.since, until=around))
            later = replace(search, window=Window(since=around, until=until or around + timedelta(hours=1)))
            before = await earlier.lines(exact, size=(size + 1) // 2)
            after = await later.lines(exact, size=max(1, size // 2), oldest=True)
            return tuple(line.shown() for line in (*before, *after))

        return await self._within_time(read)

    async def _within_time(self, query: Callable[[], Awaitable[T]]) -> T:
        limit = self._options.timeout.total_seconds()
        try:
            async with asyncio.timeout(limit):
                return await query()
        except TimeoutError as error:
            raise SourceError(
                f"{self._options.name} did not answer within {limit:g} s: narrow the search, or raise the timeout"
            ) from error
        except SourceError:
            # The mapping may have changed; the next query reads it again.
            self._finder.forget()
            raise

    async def _search(
        self,
        match: str,
        window: Window,
        *,
        at: datetime,
        by: tuple[str, ...] = (),
        level: LogLevel | None = None,
    ) -> LogSearch:
        fields = await self._finder.at(at)
        return LogSearch(
            client=self._client,
            fields=fields,
            match=matching(match, fields),
            window=window,
            redact=self._options.redact,
            skip=lambda reason: self._unreadable.skip(self._options.name, reason),
            by=by,
            level=level,
        )

    async def _answer(self, query: LogQuery, at: datetime) -> Seen:
        until = at - self._options.lag
        window = Window(since=until - query.over, until=until)
        search = await self._search(query.match, window, at=at, by=query.labels, level=query.level)
        if query.of_host:
            search = of_host(search, self._topology)
        if query.extract is not None:
            _must_be_alone(query, "extract")
            samples = await extracted(search, query.extract, above=query.above, cap=self._options.lines_cap)
            return self._seen(samples, at, has_skipped=bool(search.skipped))
        if query.novel is not None:
            _must_be_alone(query, "novel")
            past = Window(since=until - query.novel, until=window.since)
            samples = await novel(search, past, above=query.above)
            return self._seen(samples, at, has_skipped=bool(search.skipped))
        groups = await self._counted(query, search)
        samples = await samples_of(search, groups, above=query.above, are_lines=not query.distinct)
        return self._seen(samples, at, has_skipped=False)  # the server counts; lines are only shown

    def _seen(self, samples: tuple[Sample, ...], at: datetime, *, has_skipped: bool) -> Seen:
        """Return the result. A line that cannot be read may be of any alert."""
        return Seen(
            source=self._options.name, at=at, samples=samples, unread=(Labels(),) if has_skipped else ()
        )

    async def _counted(self, query: LogQuery, search: LogSearch) -> list[LineGroup]:
        usual = query.times_usual
        seasons = range(1, _SEASONS + 1) if usual is not None else ()
        earlier = [search.window.before(usual.season * back) for back in seasons if usual is not None]
        counting = Counting(search, earlier=earlier)
        found = await counting.groups(cap=self._options.groups_cap)
        if query.distinct:
            found = count_different(found, query.distinct)
        groups = [group for group in found if group.count > query.above]
        if usual is not None and groups:
            totals = await counting.totals()
            groups = [replace(group, usual=usual_of(group, totals)) for group in groups]
            groups = [group for group in groups if group.count > usual.factor * (group.usual or 0)]
        return sorted(groups, key=lambda group: tuple(group.labels.items()))


def _must_be_alone(query: LogQuery, option: str) -> None:
    given = {"extract": query.extract, "novel": query.novel, "times_usual": query.times_usual}
    if others := [name for name, value in given.items() if value is not None and name != option]:
        raise SourceError(f"`{option}` and `{others[0]}` cannot be used together", temporary=False)


def _exact(where: Mapping[str, str | Sequence[str]]) -> dict[str, tuple[str, ...]]:
    """Return the values by label; a training's namespace becomes a label of its own."""
    found = {label: (value,) if isinstance(value, str) else tuple(value) for label, value in where.items()}
    for label, values in found.items():
        if not values or len(values) > _MOST_VALUES:
            raise SourceError(
                f"`{label}` has {len(values)} values; it must have 1 to {_MOST_VALUES}", temporary=False
            )
    if trainings := found.get("training"):
        namespaces, names = zip(*(name.rpartition("/")[::2] for name in trainings), strict=True)
        found["training"] = tuple(names)
        if any(namespaces):
            found.setdefault("namespace", tuple(sorted({namespace for namespace in namespaces if namespace})))
    return found
