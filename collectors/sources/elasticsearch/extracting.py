"""This file takes labels out of log lines by a regular expression: one sample for each GPU and XID number."""

from collections import Counter
from collections.abc import AsyncIterator, Iterable, Sequence

from collectors.facts.labels import Labels
from collectors.facts.patterns import Pattern, compile_pattern
from collectors.facts.results import Sample, SourceError
from collectors.sources.elasticsearch.client import TooLargeError
from collectors.sources.elasticsearch.counting import LineGroup, groups_of
from collectors.sources.elasticsearch.hits import LogLine, cut, distinct
from collectors.sources.elasticsearch.log_search import LogSearch
from collectors.sources.elasticsearch.sampling import newest_of, pages_of

_TEXTS = 3
_TEXT_LENGTH = 500
_VALUE_LENGTH = 200  # characters of a label
_EACH = 100  # lines of each group that are read when there are too many lines to read all
_AT_ONCE = 50  # groups of one call


def pattern_of(extract: str) -> Pattern:
    """The compiled expression. Raises SourceError when it is wrong or names no group."""
    try:
        pattern = compile_pattern(extract)
    except ValueError as error:
        raise SourceError(
            f"`extract` is not a regular expression: {error}: {extract}", temporary=False
        ) from error
    if not pattern.groupindex:
        raise SourceError(f"`extract` has no named group, like (?P<xid>[0-9]+): {extract}", temporary=False)
    return pattern


class Extraction:
    """Counts of lines by the words and the named groups, with the newest lines of each."""

    def __init__(self, pattern: Pattern) -> None:
        self._pattern = pattern
        self._counts: Counter[Labels] = Counter()
        self._texts: dict[Labels, list[str]] = {}

    def add(self, lines: Iterable[LogLine]) -> None:
        """Take in lines, the newest first. A line in which the expression finds nothing does not count."""
        for line in lines:
            found = self._pattern.search(line.text)
            if found is None:
                continue
            named = {name: cut(value, _VALUE_LENGTH) for name, value in found.groupdict(default="").items()}
            labels = Labels({**line.labels, **{name: value for name, value in named.items() if value}})
            self._counts[labels] += 1
            texts = self._texts.setdefault(labels, [])
            if len(texts) < _TEXTS:
                texts.append(cut(line.text, _TEXT_LENGTH))

    def __bool__(self) -> bool:
        return bool(self._counts)

    def samples(self, *, above: float, note: str = "") -> tuple[Sample, ...]:
        """One sample for each set of labels that counts above the threshold; `note` goes with every one."""
        return tuple(
            Sample(
                labels=labels,
                value=float(count),
                texts=distinct((*self._texts[labels], note)),
            )
            for labels, count in sorted(self._counts.items(), key=lambda item: tuple(item[0].items()))
            if count > above
        )


async def extracted(search: LogSearch, extract: str, *, above: float, cap: int) -> tuple[Sample, ...]:
    """Read the window's matching lines and count them by the words and the expression's named groups.

    Up to `cap` lines are read. When there are more, the newest of every group of words are, about `cap` in all: what
    was found is true then, each sample says that its count is a lower bound, and nothing found is no answer.
    Raises SourceError.
    """
    pattern = pattern_of(extract)
    found = Extraction(pattern)
    groups = await groups_of(search, cap=cap)
    total = sum(group.count for group in groups)
    if not total:
        return ()
    if total <= cap:
        async for page in pages_of(search, search.query, cap=cap):
            found.add(page)
        return found.samples(above=above)
    # A flood of one group must not hide the others: every group is looked at on its own.
    each = max(1, min(_EACH, cap // len(groups)))
    read = 0
    async for lines in _newest_of_each(search, groups, each):
        read += len(lines)
        found.add(lines)
    note = f"({total} lines match, {read} were read: the true count is higher)"
    samples = found.samples(above=above, note=note)
    if not samples:
        raise SourceError(
            f"{total} lines match, too many to read, and `extract` found nothing in the newest {read}: narrow `match`"
        )
    return samples


async def _newest_of_each(
    search: LogSearch, groups: Sequence[LineGroup], each: int
) -> AsyncIterator[list[LogLine]]:
    """The newest lines of each group; fewer, and in more calls, where they are over the byte cap."""
    start, at_once = 0, _AT_ONCE
    while start < len(groups):
        some = groups[start : start + at_once]
        try:
            found = await newest_of(search, some, size=each, words=search.by)
        except TooLargeError:
            if each == at_once == 1:
                raise
            each, at_once = max(1, each // 4), max(1, at_once // 2)
            continue
        for lines in found:
            yield lines
        start += len(some)
