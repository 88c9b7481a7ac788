"""This file finds lines of a kind that was never seen before, by reading few lines and asking about their patterns."""

from collections.abc import Sequence

from collectors.facts.labels import Labels
from collectors.facts.results import Sample, SourceError
from collectors.sources.elasticsearch.bodies import Json, Window, in_all, in_window, phrase
from collectors.sources.elasticsearch.fields import FieldMap
from collectors.sources.elasticsearch.hits import LogLine, cut, distinct
from collectors.sources.elasticsearch.line_patterns import LinePattern, pattern_of
from collectors.sources.elasticsearch.log_search import LogSearch
from collectors.sources.elasticsearch.sampling import pages_of

_TEXTS = 3
_TEXT_LENGTH = 500
_ROUND = 500  # lines of one round
_ROUNDS = 4
_PATTERNS = 200  # that are asked about in one look
_ENOUGH_WORDS = 2  # a pattern with fewer constant words is too vague to ask for
_SURE_WORDS = 4  # with fewer, leaving a pattern's lines out would leave out others too


class Novelties:
    """The patterns of the lines that were read, with counts by label and the newest lines."""

    def __init__(self) -> None:
        self.patterns: dict[str, LinePattern] = {}
        self._counts: dict[tuple[str, Labels], int] = {}
        self._texts: dict[tuple[str, Labels], list[str]] = {}

    def add(self, lines: Sequence[LogLine]) -> None:
        for line in lines:
            pattern = pattern_of(line.text)
            if pattern.words < _ENOUGH_WORDS:
                continue
            self.patterns.setdefault(pattern.label, pattern)
            key = pattern.label, line.labels
            self._counts[key] = self._counts.get(key, 0) + 1
            texts = self._texts.setdefault(key, [])
            if len(texts) < _TEXTS:
                texts.append(cut(line.text, _TEXT_LENGTH))

    def samples(self, unseen: set[str], *, above: float, note: str) -> tuple[Sample, ...]:
        return tuple(
            Sample(
                labels=labels.with_(pattern=label),
                value=float(count),
                texts=distinct((*self._texts[label, labels], note)),
            )
            for (label, labels), count in sorted(
                self._counts.items(), key=lambda item: (item[0][0], tuple(item[0][1].items()))
            )
            if label in unseen and count > above
        )


async def novel(search: LogSearch, past: Window, *, above: float) -> tuple[Sample, ...]:
    """Samples of the window's patterns that no line of `past` has, labelled `pattern` and by the words.

    Lines are read in rounds of 500; each round leaves out the patterns that are known by then, so that what is
    frequent does not hide what is rare. After four rounds it stops: what was found is true and says that it may not
    be all; nothing found is no answer then, and raises SourceError.
    """
    fields = search.fields
    if stiff := sorted(fields.without_phrases & set(fields.reading("message"))):
        raise SourceError(
            f"`{stiff[0]}` is not mapped as text, so words in it cannot be looked for: `novel` needs a text field",
            temporary=False,
        )
    for word in search.by:
        fields.grouping(word)
    found, is_whole = await _read(search)
    asked = list(found.patterns.values())[:_PATTERNS]
    unseen = await _unseen(search, asked, past)
    note = (
        "" if is_whole else "(there are more lines than were read: the count and the patterns may not be all)"
    )
    samples = found.samples(unseen, above=above, note=note)
    if not samples and not is_whole:
        raise SourceError("too many different lines match to tell whether one is new: narrow `match`")
    return samples


async def _read(search: LogSearch) -> tuple[Novelties, bool]:
    """What was read, and whether that was everything."""
    found = Novelties()
    left_out: list[Json] = []
    done: set[str] = set()
    for _ in range(_ROUNDS):
        rest = in_all([search.query], but_not=left_out) if left_out else search.query
        read = 0
        async for page in pages_of(search, rest, cap=_ROUND):
            read += len(page)
            found.add(page)
        if read < _ROUND:
            return found, len(found.patterns) <= _PATTERNS
        fresh = [one for name, one in found.patterns.items() if name not in done and one.words >= _SURE_WORDS]
        if not fresh or len(found.patterns) > _PATTERNS:
            break
        left_out += [_lines_like(one, search.fields) for one in fresh]
        done |= {one.label for one in fresh}
    return found, False


async def _unseen(search: LogSearch, patterns: Sequence[LinePattern], past: Window) -> set[str]:
    if not patterns:
        return set()
    bodies: list[Json] = [
        {
            "size": 0,
            "track_total_hits": 1,
            "terminate_after": 1,  # the first line answers the question
            "query": in_all([in_window(search.fields, past), _lines_like(one, search.fields)]),
        }
        for one in patterns
    ]
    answers = await search.client.searches(bodies, keep=("hits.total.value",))
    return {
        one.label
        for one, answer in zip(patterns, answers, strict=True)
        if not answer["hits"]["total"]["value"]
    }


def _lines_like(pattern: LinePattern, fields: FieldMap) -> Json:
    return in_all([phrase(run, fields) for run in pattern.runs])
