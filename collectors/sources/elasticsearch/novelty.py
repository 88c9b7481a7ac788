"""New line patterns: a few lines are read, and the index is searched for earlier lines with their patterns."""

from collections.abc import Sequence

from collectors.facts.results import Sample, SourceError
from collectors.sources.elasticsearch.bodies import Window, in_all, in_window, phrase
from collectors.sources.elasticsearch.fields import FieldMap
from collectors.sources.elasticsearch.line_patterns import LinePattern, pattern_of
from collectors.sources.elasticsearch.log_lines import LineTally, StoredLine
from collectors.sources.elasticsearch.log_search import LogSearch
from collectors.sources.elasticsearch.wire import Json

_ROUND = 500  # lines of one round
_ROUNDS = 4
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
            for sample in tally.samples(above=above, note=note)
        )


async def novel(search: LogSearch, past: Window, *, above: float) -> tuple[Sample, ...]:
    """Return samples of the window's patterns that no line of `past` has, with the labels `pattern` and `search.by`.

    Lines are read in rounds of 500. Each round excludes the patterns that are already known, so that frequent lines
    do not hide rare ones. After four rounds it stops: the samples say that they may be incomplete, and without any
    sample it raises SourceError.
    """
    fields = search.fields
    if keyword_only := sorted(fields.without_phrases & set(fields.reading("message"))):
        raise SourceError(
            f"`{keyword_only[0]}` is not mapped as text, so it cannot be searched: `novel` needs a text field",
            temporary=False,
        )
    for label in search.by:
        fields.grouping(label)
    found, is_whole = await _read(search)
    patterns = list(found.patterns.values())[:_PATTERNS]
    unseen = await _unseen(search, patterns, past)
    note = "" if is_whole else "(not all lines were read: the count and the patterns may be incomplete)"
    samples = found.samples(unseen, above=above, note=note)
    if not samples and not is_whole:
        raise SourceError("too many different lines match to find the new ones: narrow `match`")
    return samples


async def _read(search: LogSearch) -> tuple[LinesByPattern, bool]:
    """Read lines. Return their patterns, and whether all lines were read."""
    found = LinesByPattern()
    excluded: list[Json] = []
    done: set[str] = set()
    for _ in range(_ROUNDS):
        rest = in_all([search.query], but_not=excluded) if excluded else search.query
        read = 0
        async for page in search.pages(rest, cap=_ROUND):
            read += page.hits
            found.add(page.lines)
        if read < _ROUND:
            return found, len(found.patterns) <= _PATTERNS
        fresh = [one for name, one in found.patterns.items() if name not in done and one.words >= _SURE_WORDS]
        if not fresh or len(found.patterns) > _PATTERNS:
            break
        excluded += [_lines_like(one, search.fields) for one in fresh]
        done |= {one.label for one in fresh}
    return found, False


async def _unseen(search: LogSearch, patterns: Sequence[LinePattern], past: Window) -> set[str]:
    if not patterns:
        return set()
    bodies: list[Json] = [
        {
            "size": 0,
            "track_total_hits": 1,
            "terminate_after": 1,  # one line is enough
            "query": in_all([in_window(search.fields, past), _lines_like(one, search.fields)]),
        }
        for one in patterns
    ]
    responses = await search.client.searches(bodies, keep=("hits.total.value",))
    return {one.label for one, response in zip(patterns, responses, strict=True) if not response.total}


def _lines_like(pattern: LinePattern, fields: FieldMap) -> Json:
    return in_all([phrase(run, fields) for run in pattern.runs])
