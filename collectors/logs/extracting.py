"""Labels from log lines by a regular expression, for example one sample per GPU and XID number."""

from collections.abc import AsyncIterator, Iterable, Sequence

from collectors.facts.labels import Labels
from collectors.facts.one_line import IDENTITY, one_line
from collectors.facts.patterns import Pattern, compile_pattern
from collectors.facts.results import Sample, SourceError, TooLargeError
from collectors.facts.sentences import counted, said_by, sentence
from collectors.logs.group_counts import groups_of
from collectors.logs.log_store import LineGroup, LineSearch, LogStore
from collectors.logs.stored_lines import LineTally, StoredLine

_EACH = 100  # lines read of each group when there are too many to read all
_AT_ONCE = 50  # groups of one request


async def extracted(
    store: LogStore, search: LineSearch, extract: str, *, above: float, cap: int
) -> tuple[Sample, ...]:
    """Read the window's matching lines and count them by label and by the expression's named groups.

    Up to `cap` lines are read. When more match, the newest of every group are read, about `cap` in total: each sample
    then says that its count is a lower bound, and the lack of a match is not a result. Raises SourceError.
    """
    pattern = _compiled(extract)
    found = LineTally()
    groups = await groups_of(store, search, [search.window], cap=cap)
    total = sum(group.count for group in groups)
    if not total:
        return ()
    if total <= cap:
        async for page in store.pages(search, cap=cap):
            _add(found, pattern, page.lines, search)
        return found.samples(above=above)
    # A flood in one group must not hide the others, so every group is read.
    each = max(1, min(_EACH, cap // len(groups)))
    read = 0
    async for lines in _newest_of_each(store, search, groups, each):
        read += len(lines)
        _add(found, pattern, lines, search)
    note = counted(
        "({count} line matches, only {read} were read: the actual count is higher)",
        "({count} lines match, only {read} were read: the actual count is higher)",
        count=total,
        read=read,
    )
    samples = found.samples(above=above, note=note)
    if not samples:
        raise SourceError(
            counted(
                "{count} line matches, too many to read, and `extract` matched none of the newest "
                "{read}: narrow `match`",
                "{count} lines match, too many to read, and `extract` matched none of the newest "
                "{read}: narrow `match`",
                count=total,
                read=read,
            )
        )
    return samples


def _compiled(extract: str) -> Pattern:
    """Compile the expression. Raises SourceError when it is invalid or has no named group."""
    try:
        pattern = compile_pattern(extract)
    except ValueError as error:
        raise SourceError(
            sentence(
                "`extract` is not a regular expression: {error}: {extract}",
                error=said_by(error),
                extract=extract,
            ),
            temporary=False,
        ) from error
    if not pattern.groupindex:
        raise SourceError(
            sentence("`extract` has no named group, like (?P<xid>[0-9]+): {extract}", extract=extract),
            temporary=False,
        )
    return pattern


def _add(found: LineTally, pattern: Pattern, lines: Iterable[StoredLine], search: LineSearch) -> None:
    """Count lines by label and named group. A line that the expression does not match is not counted."""
    for line in lines:
        labels = search.counted(line.labels)
        if labels is not None and (match := pattern.search(line.text)) is not None:
            named = {name: one_line(value, IDENTITY) for name, value in match.groupdict(default="").items()}
            known = {name: value for name, value in named.items() if value}
            found.add(Labels({**labels, **known}), line)


async def _newest_of_each(
    store: LogStore, search: LineSearch, groups: Sequence[LineGroup], each: int
) -> AsyncIterator[tuple[StoredLine, ...]]:
    """Yield the newest lines of each group; fewer lines, in more requests, when a response exceeds the byte cap."""
    start, at_once = 0, _AT_ONCE
    while start < len(groups):
        batch = groups[start : start + at_once]
        try:
            found = await store.newest(search, batch, size=each, by=search.by)
        except TooLargeError:
            if each == at_once == 1:
                raise
            each, at_once = max(1, each // 4), max(1, at_once // 2)
            continue
        for lines in found:
            yield lines
        start += len(batch)
