"""This file is the source to Elasticsearch: log searches in, observations out; and log lines for people."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TypeVar

from collectors.facts.clock import in_words
from collectors.facts.queries import LogQuery
from collectors.facts.results import Blind, QueryResult, Sample, Seen, SourceError
from collectors.sources.elasticsearch.bodies import Window, matching
from collectors.sources.elasticsearch.client import ElasticsearchClient
from collectors.sources.elasticsearch.counting import LineGroup, groups_of, totals_of, usual_of
from collectors.sources.elasticsearch.extracting import extracted
from collectors.sources.elasticsearch.fields import FieldFinder
from collectors.sources.elasticsearch.hits import LogLine
from collectors.sources.elasticsearch.log_lines import ServerFacts, lines_in, server_facts
from collectors.sources.elasticsearch.log_search import LogSearch
from collectors.sources.elasticsearch.novelty import novel
from collectors.sources.elasticsearch.options import ElasticsearchOptions
from collectors.sources.elasticsearch.sampling import texts_of

_SEASONS = 7
_CLOCKS_DIFFER = timedelta(days=1)  # a line from the future is a line, too
_LINE_WORDS_WITH_MANY = 1_000  # values of one word that may be asked for at once

T = TypeVar("T")


class ElasticsearchSource:
    """Looks at the logs. A look that fails, or is not whole, is Blind and says why and what to do.

    Nothing here depends on how many lines match: they are counted by the server, and the lines that are read have
    caps in number and in bytes. Close it when done; it opens its connections on the first call.
    """

    def __init__(self, options: ElasticsearchOptions) -> None:
        self._options = options
        self._client = ElasticsearchClient(options)
        self._finder = FieldFinder(self._client, options.fields, options.index)

    async def __aenter__(self) -> "ElasticsearchSource":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()

    async def search(self, query: LogQuery, *, at: datetime) -> QueryResult:
        """Answer a rule's log search as of `at`: one sample for each group that counts above the threshold.

        Labels are the words of `by`, the named groups of `extract`, and `pattern` for `novel`; the value is the
        count of lines; `texts` are up to three of the newest lines, redacted and cut to 500 characters.
        """
        return await self._observed(lambda: self._answer(query, at), at)

    async def health(self, *, at: datetime) -> Blind | None:
        """Why its silence may not be believed, or None. Ask it once a cycle.

        Logs that nobody ships any more look like logs in which all is well.
        """
        options = self._options
        window = Window(since=at - options.stale_after, until=at + _CLOCKS_DIFFER)

        async def newest() -> list[LogLine]:
            return await lines_in(await self._search("", window, at=at), {}, size=1)

        if not options.stale_after:
            return None
        try:
            if await self._within_time(newest):
                return None
        except SourceError as error:
            return Blind(source=options.name, at=at, reason=str(error), is_lasting=not error.temporary)
        reason = (
            f"it answers, but holds no line of the last {in_words(options.stale_after)}: "
            "see that the log shipper runs, and that `index` names where it writes"
        )
        return Blind(source=options.name, at=at, reason=reason, is_lasting=True)

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
        """The newest `tail` lines whose words (pod, node, namespace, training, …) have these values, oldest first.

        `since` and `until` default to the hour before `at`, and `at`. With `around`, half of the lines are from
        before that moment and half from it on. `training` is namespace/name. `match`: a query string on top.
        At most the settings' `lines_cap` lines. Raises SourceError.
        """
        exact = _exact(where)
        size = max(1, min(tail, self._options.lines_cap))
        end = until or at
        window = Window(since=since or (around or end) - timedelta(hours=1), until=end)

        async def read() -> tuple[LogLine, ...]:
            search = await self._search(match, window, at=at)
            if around is None:
                return tuple(await lines_in(search, exact, size=size))
            earlier = replace(search, window=Window(since=window.since, until=around))
            later = replace(search, window=Window(since=around, until=until or around + timedelta(hours=1)))
            before = await lines_in(earlier, exact, size=(size + 1) // 2)
            after = await lines_in(later, exact, size=max(1, size // 2), oldest=True)
            return (*before, *after)

        return await self._within_time(read)

    async def probe(self, *, at: datetime) -> ServerFacts:
        """What is this server, which fields has it, how fresh are its logs. Raises SourceError."""

        async def ask() -> ServerFacts:
            self._finder.forget()
            return await server_facts(self._client, await self._finder.at(at), at)

        return await self._within_time(ask)

    async def _observed(self, look: Callable[[], Awaitable[tuple[Sample, ...]]], at: datetime) -> QueryResult:
        source = self._options.name
        try:
            return Seen(source=source, at=at, samples=await self._within_time(look))
        except SourceError as error:
            return Blind(source=source, at=at, reason=str(error), is_lasting=not error.temporary)

    async def _within_time(self, look: Callable[[], Awaitable[T]]) -> T:
        limit = self._options.timeout.total_seconds()
        try:
            async with asyncio.timeout(limit):
                return await look()
        except TimeoutError as error:
            raise SourceError(
                f"{self._options.name} did not answer within {limit:g} s: narrow the search, or raise the timeout"
            ) from error
        except SourceError:
            # The mapping may have changed under us; the next look asks for it again.
            self._finder.forget()
            raise

    async def _search(
        self, match: str, window: Window, *, at: datetime, by: tuple[str, ...] = ()
    ) -> LogSearch:
        fields = await self._finder.at(at)
        return LogSearch(
            client=self._client,
            fields=fields,
            match=matching(match, fields),
            window=window,
            redact=self._options.redact,
            by=by,
        )

    async def _answer(self, query: LogQuery, at: datetime) -> tuple[Sample, ...]:
        until = at - self._options.lag
        window = Window(since=until - query.over, until=until)
        search = await self._search(query.match, window, at=at, by=query.by)
        if query.extract is not None:
            _alone(query, "extract")
            return await extracted(search, query.extract, above=query.above, cap=self._options.lines_cap)
        if query.novel is not None:
            _alone(query, "novel")
            past = Window(since=until - query.novel, until=window.since)
            return await novel(search, past, above=query.above)
        groups = await self._counted(query, search)
        texts = await texts_of(search, groups)
        return tuple(
            Sample(labels=group.labels, value=float(group.count), texts=texts.get(group.labels, ()))
            for group in groups
        )

    async def _counted(self, query: LogQuery, search: LogSearch) -> list[LineGroup]:
        usual = query.times_usual
        seasons = range(1, _SEASONS + 1) if usual is not None else ()
        earlier = [search.window.before(usual.season * back) for back in seasons if usual is not None]
        found = await groups_of(search, cap=self._options.groups_cap, earlier=earlier)
        groups = [group for group in found if group.count > query.above]
        if usual is not None and groups:
            totals = await totals_of(search, earlier)
            groups = [group for group in groups if group.count > usual.factor * usual_of(group, totals)]
        return sorted(groups, key=lambda group: tuple(group.labels.items()))


def _alone(query: LogQuery, what: str) -> None:
    given = {"extract": query.extract, "novel": query.novel, "times_usual": query.times_usual}
    if others := [name for name, value in given.items() if value is not None and name != what]:
        raise SourceError(f"`{what}` and `{others[0]}` cannot be asked for together", temporary=False)


def _exact(where: Mapping[str, str | Sequence[str]]) -> dict[str, tuple[str, ...]]:
    """The values by word; a training's namespace becomes a word of its own."""
    found = {word: (held,) if isinstance(held, str) else tuple(held) for word, held in where.items()}
    for word, values in found.items():
        if not values or len(values) > _LINE_WORDS_WITH_MANY:
            raise SourceError(
                f"`{word}` has {len(values)} values; from 1 to {_LINE_WORDS_WITH_MANY} can be asked for",
                temporary=False,
            )
    if trainings := found.get("training"):
        spaces, names = zip(*(name.rpartition("/")[::2] for name in trainings), strict=True)
        found["training"] = tuple(names)
        if any(spaces):
            found.setdefault("namespace", tuple(sorted({space for space in spaces if space})))
    return found
