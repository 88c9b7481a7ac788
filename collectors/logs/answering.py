"""Answers to log queries: what to search in a store, and what of the lines it finds makes a sample."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from collectors.facts.labels import Labels
from collectors.facts.queries import LogQuery
from collectors.facts.results import Seen, SourceError
from collectors.facts.sentences import sentence
from collectors.facts.topology import Topology
from collectors.logs.extracting import extracted
from collectors.logs.group_counts import counted_groups
from collectors.logs.group_samples import samples_of
from collectors.logs.log_store import LineSearch, LogStore, Window
from collectors.logs.novelty import novel
from collectors.logs.of_host import of_host


@dataclass(frozen=True, slots=True, kw_only=True)
class LogLimits:
    """How far back windows end, since a line becomes searchable later, and how much one query reads."""

    lag: timedelta = timedelta(seconds=10)
    groups_cap: int = 10_000  # groups of one result
    lines_cap: int = 2_000  # log lines that one query reads


async def answer_log_query(
    query: LogQuery,
    at: datetime,
    *,
    open_store: Callable[[datetime], Awaitable[LogStore]],
    limits: LogLimits,
    topology: Callable[[], Topology] | None = None,
) -> Seen:
    """Answer a rule's query as of `at`: one sample for each group whose count is above the threshold.

    Labels are those of `by`, the named groups of `extract`, and `pattern` for `novel`; the value is the count of
    lines; `texts` are up to three of the newest lines, redacted and made one line each. Raises SourceError.
    """
    until = at - limits.lag
    window = Window(since=until - query.over, until=until)
    store, own = await open_store(at), query.store_match
    if own is not None and own.store != store.name:
        raise SourceError(
            sentence(
                "the rule searches by `{store}:`, and the logs of this cluster are in {other}: "
                "write the search as `match`",
                store=own.store,
                other=store.name,
            ),
            temporary=False,
        )
    search = LineSearch(
        match=query.match,
        own_match=own.text if own is not None else "",
        level=query.level,
        window=window,
        by=query.labels,
    )
    if query.of_host:
        search = of_host(store, search, topology)
    if query.extract is not None:
        _must_be_alone(query, "extract")
        samples = await extracted(store, search, query.extract, above=query.above, cap=limits.lines_cap)
    elif query.novel is not None:
        _must_be_alone(query, "novel")
        past = Window(since=until - query.novel, until=window.since)
        samples = await novel(store, search, past, above=query.above)
    else:
        groups = await counted_groups(store, search, query, cap=limits.groups_cap)
        samples = await samples_of(store, search, groups, above=query.above, are_lines=not query.distinct)
        return Seen(source=store.name, at=at, samples=samples)  # the server counts; lines are only shown
    # A line that cannot be read may be of any alert.
    return Seen(source=store.name, at=at, samples=samples, unread=(Labels(),) if store.skipped else ())


def _must_be_alone(query: LogQuery, option: str) -> None:
    given = {"extract": query.extract, "novel": query.novel, "times_usual": query.times_usual}
    if others := [name for name, value in given.items() if value is not None and name != option]:
        raise SourceError(
            sentence("`{option}` and `{other}` cannot be used together", option=option, other=others[0]),
            temporary=False,
        )
