"""New line patterns: a few lines are read, and the store is searched for earlier lines with their patterns."""

from collections import defaultdict
from collections.abc import Iterator, Sequence

from collectors.facts.labels import Labels
from collectors.facts.one_line import some_of
from collectors.facts.results import Sample, SourceError
from collectors.facts.sentences import counted, sentence
from collectors.logs.line_patterns import LinePattern, pattern_of
from collectors.logs.log_store import LineSearch, LogStore, Window
from collectors.logs.stored_lines import LineTally, StoredLine, distinct

_ROUND = 500  # lines of one round
_ROUNDS = 4
_NODES, _TEXTS = 8, 4  # of a pattern on several nodes: how many are named, and how many lines are shown
_PATTERNS = 200  # searched for in one query
_ENOUGH_WORDS = 2  # a pattern with fewer constant words is too vague to search for
_SURE_WORDS = 4  # with fewer, excluding a pattern's lines would exclude others too


class LinesByPattern:
    """The patterns of the lines that were read, each with a tally of its lines."""

    def __init__(self) -> None:
        self.patterns: dict[str, LinePattern] = {}
        self._tallies: dict[str, LineTally] = {}

    def add(self, lines: Sequence[StoredLine]) -> None:
        """Add lines, the newest first."""
        for line in lines:
            pattern = pattern_of(line.text)
            if pattern.words >= _ENOUGH_WORDS:
                self.patterns.setdefault(pattern.label, pattern)
                tally = self._tallies.setdefault(pattern.label, LineTally())
                tally.add(line.labels.with_(pattern=pattern.label), line)

    def samples(self, unseen: set[str], *, above: float, note: str) -> tuple[Sample, ...]:
        """Return the samples of the unseen patterns, with the label `pattern`."""
        return tuple(
            sample
            for label, tally in sorted(self._tallies.items())
            if label in unseen
            for sample in _across_nodes(tally.samples(above=above, note=note))
        )


def _across_nodes(samples: Sequence[Sample]) -> Iterator[Sample]:
    """Yield the samples of one pattern; those that differ in nothing but the node are one, without it.

    What is new on several nodes at once is one thing that happened: an update, or something that all of them need.
    """
    same: dict[Labels, list[Sample]] = defaultdict(list)
    for sample in samples:
        same[sample.labels.without("node")].append(sample)
    for labels, found in same.items():
        if len(found) == 1:
            yield found[0]
            continue
        where = counted(
            "on {count} node: {nodes}",
            "on {count} nodes: {nodes}",
            count=len(found),
            nodes=some_of([one.labels["node"] for one in found], _NODES),
        )
        texts = distinct(text for one in found for text in one.texts)
        yield Sample(labels=labels, value=sum(one.value for one in found), texts=(where, *texts[:_TEXTS]))


async def novel(store: LogStore, search: LineSearch, past: Window, *, above: float) -> tuple[Sample, ...]:
    """Return samples of the window's patterns that no line of `past` has, with the labels `pattern` and `search.by`.

    Lines are read in rounds of 500. Each round excludes the patterns that are already known, so that frequent lines
    do not hide rare ones. After four rounds it stops: the samples say that they may be incomplete, and without any
    sample it raises SourceError.
    """
    store.check_phrases(search.by)
    found, is_whole = await _read(store, search)
    patterns = list(found.patterns.values())[:_PATTERNS]
    seen = await store.seen(patterns, past) if patterns else ()
    unseen = {one.label for one, was_seen in zip(patterns, seen, strict=True) if not was_seen}
    note = (
        ""
        if is_whole
        else sentence("(not all lines were read: the count and the patterns may be incomplete)")
    )
    samples = found.samples(unseen, above=above, note=note)
    if not samples and not is_whole:
        raise SourceError(sentence("too many different lines match to find the new ones: narrow `match`"))
    return samples


async def _read(store: LogStore, search: LineSearch) -> tuple[LinesByPattern, bool]:
    """Read lines. Return their patterns, and whether all lines were read."""
    found = LinesByPattern()
    excluded: list[LinePattern] = []
    done: set[str] = set()
    for _ in range(_ROUNDS):
        read = 0
        async for page in store.pages(search, cap=_ROUND, but_not=excluded):
            read += page.hits
            found.add(page.lines)
        if read < _ROUND:
            return found, len(found.patterns) <= _PATTERNS
        fresh = [one for name, one in found.patterns.items() if name not in done and one.words >= _SURE_WORDS]
        if not fresh or len(found.patterns) > _PATTERNS:
            break
        excluded += fresh
        done |= {one.label for one in fresh}
    return found, False
