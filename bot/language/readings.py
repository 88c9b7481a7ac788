"""Readings of a sentence: every way to split it into phrases of the code, and the way that leaves the least English."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from operator import attrgetter, itemgetter

from bot.language.phrase import WORD, Expected, Phrase, Position
from collectors.facts.patterns import Pattern

PARTS = 120  # of a sentence, at which it is searched
CACHED = 4_096  # sentences
Separators = Iterable[tuple[re.Pattern[str], str]]

# What joins sentences and names, and how the other language joins them. A sentence keeps its own full stop.
_FULL_STOP = re.compile(r"(?<=[.!?])(?= )")
_LISTS = (
    (re.compile(" · "), " · "),
    (_FULL_STOP, ""),
    (re.compile("; "), "；"),
    (re.compile(", "), "、"),
)
_ENDS = ((".", "。"), ("?", "？"))
_MARKED = re.compile(
    r"((?:[^\w\s`“(…\ue000-\uf8ff]+|\d+\.) )(.+)", re.DOTALL
)  # a mark or a number before a sentence
_ASIDE = re.compile(r"(.+) \(([^()]+)\)", re.DOTALL)  # a sentence and, in parentheses, another
# What needs no translation: a name, a number with its unit, an object with its kind.
_VALUE = re.compile(r"\W*\S*\W*|\W*\d\S* \S+|[^\s:]+ \S*[/\d-]\S*")
_ENGLISH = re.compile(r"[^\w*-]*[A-Za-z]?[a-z]+[^\w*-]*")
_WORDS = re.compile(
    r"(?:^|[^\w`./-])[A-Za-z]?[a-z]+(?=\.?(?:$|[^\w`./-]))"
)  # English words, which may be names
_FITTING: Mapping[Expected, Callable[[str], bool]] = {
    Expected.ENDING: lambda _: True,
    Expected.ANYTHING: lambda _: True,
    Expected.VALUE: lambda rest: bool(_VALUE.fullmatch(rest)),
    Expected.SYMBOL: lambda rest: bool(_VALUE.fullmatch(rest)) and not _ENGLISH.fullmatch(rest),
}
_SENTENCE = 100  # words of a sentence that nothing fits weigh so much more than names
# The most English words in what is translated.
_MOST = {Expected.ANYTHING: 1_000 * _SENTENCE, Expected.VALUE: _SENTENCE - 1, Expected.SYMBOL: 0}


@dataclass(frozen=True, slots=True)
class Reading:
    """`text` is the sentence in the other language; `left` weighs the English words that are still in it."""

    text: str
    left: int = 0

    def within(self, before: str, after: str) -> "Reading":
        return Reading(f"{before}{self.text}{after}", self.left)


class Readings:
    """`best` is the reading of a sentence that leaves the least English, or None if no phrase fits."""

    def __init__(self, phrases: Iterable[Phrase]) -> None:
        by_weight = sorted(phrases, key=lambda phrase: (-phrase.weight, phrase.position is Position.WHOLE))
        self.exact = {phrase.english: phrase.other for phrase in by_weight if not phrase.has_holes}
        self.with_holes = _Index(phrase for phrase in by_weight if phrase.has_holes)
        self.parts = _Index(phrase for phrase in by_weight if phrase.position is not Position.WHOLE)
        self.best = lru_cache(maxsize=CACHED)(self._best)

    def __bool__(self) -> bool:
        return bool(self.exact or self.with_holes)

    def _best(self, sentence: str) -> Reading | None:
        return _Search(self).find(sentence)


class _Index:
    """Phrases by a word that each of them has."""

    def __init__(self, phrases: Iterable[Phrase]) -> None:
        self._by_word: dict[str, list[tuple[int, Phrase]]] = {}
        for rank, phrase in enumerate(phrases):
            self._by_word.setdefault(phrase.key_word, []).append((rank, phrase))

    def __bool__(self) -> bool:
        return bool(self._by_word)

    def of(self, sentence: str) -> list[Phrase]:
        """Return the phrases that may be in the sentence, in their order."""
        found = list[tuple[int, Phrase]]()
        for word in {"", *WORD.findall(sentence)}:
            found += self._by_word.get(word, ())
        return [phrase for _, phrase in sorted(found, key=itemgetter(0)) if phrase.fixed in sentence]


class _Search:
    """The search for one sentence. It ends after so many parts of it: what is not found by then is not ours."""

    def __init__(self, readings: Readings) -> None:
        self._readings = readings
        self._known: dict[str, Reading | None] = {}

    def find(self, sentence: str) -> Reading | None:
        if sentence not in self._known:
            if len(self._known) >= PARTS:
                return None
            self._known[sentence] = None
            self._known[sentence] = self._found(sentence)
        return self._known[sentence]

    def _found(self, sentence: str) -> Reading | None:
        core, exact = sentence.strip(), self._readings.exact
        if not core:
            return None
        if (found := exact.get(sentence)) is not None:
            return Reading(found)
        for words in (core, core[:1].lower() + core[1:]):
            if (found := exact.get(words)) is not None:
                return Reading(found).within(*_space_of(sentence))
        best: Reading | None = None
        for reading in self._all(sentence):
            if not reading.left:
                return reading
            if best is None or reading.left < best.left:
                best = reading
        return best

    def _all(self, sentence: str) -> Iterator[Reading]:
        """Yield what the sentence may mean, the likeliest first."""
        candidates = self._readings.with_holes.of(sentence)
        yield from self._of_whole(sentence, candidates, attrgetter("whole"))
        yield from self._of_headline(sentence)
        yield from self._of_marked(sentence)
        yield from self._of_ended(sentence)
        yield from self._of_list(sentence, _LISTS)
        yield from self._of_parts(sentence)
        yield from self._of_headed(sentence)
        yield from self._of_aside(sentence)
        yield from self._of_whole(sentence, candidates, attrgetter("loose"))

    def _of_whole(
        self, sentence: str, candidates: Iterable[Phrase], pattern: Callable[[Phrase], Pattern]
    ) -> Iterator[Reading]:
        for phrase in candidates:
            match = pattern(phrase).fullmatch(sentence)
            if match and (holes := self._of_holes(phrase, match.groups())) is not None:
                space = _space_of(sentence) if phrase.position is Position.WHOLE else ("", "")
                yield _joined(holes, phrase.filled).within(*space)

    def _of_holes(self, phrase: Phrase, holes: Sequence[str | None]) -> list[Reading] | None:
        """Return what stands in the holes; None if the phrase says too little for it."""
        found = [
            self._of_rest(hole or "", expected) for hole, expected in zip(holes, phrase.expected, strict=True)
        ]
        return None if None in found else [one for one in found if one]

    def _of_parts(self, sentence: str) -> Iterator[Reading]:
        """Yield the readings of a sentence that several phrases were joined to."""
        for phrase in self._readings.parts.of(sentence):
            if not (match := phrase.part.fullmatch(sentence)):
                continue
            groups = [group or "" for group in match.groups()]
            before = [groups.pop(0)] if phrase.position in (Position.END, Position.BETWEEN) else [""]
            after = [groups.pop()] if phrase.position in (Position.BEGINNING, Position.BETWEEN) else [""]
            start, end = (self._of_rest(rest, phrase.beside) for rest in (*before, *after))
            if start and end and (holes := self._of_holes(phrase, groups)) is not None:
                said = _joined(holes, phrase.filled)
                yield _joined((start, said, end), "".join)

    def _of_list(self, sentence: str, separators: Separators) -> Iterator[Reading]:
        for separator, other in separators:
            parts = separator.split(sentence)
            if len(parts) > 1:
                expected = Expected.ANYTHING if separator is _FULL_STOP else Expected.VALUE
                yield from self._of_several(parts, partial(_listed, separator=other), expected)

    def _of_headed(self, sentence: str) -> Iterator[Reading]:
        """Yield the reading of a name or a sentence that stands before another: `CRITICAL: gpu-a01 is hot`."""
        head, colon, rest = sentence.partition(": ")
        if colon:
            yield from self._of_several((head, rest), "：".join)

    def _of_marked(self, sentence: str) -> Iterator[Reading]:
        if (match := _MARKED.fullmatch(sentence)) and (said := self.find(match[2])):
            yield said.within(match[1], "")

    def _of_headline(self, sentence: str) -> Iterator[Reading]:
        """Yield the readings of a sentence that lost its full stop."""
        if sentence[-1:] in ".?!:;, ":
            return
        whole = f"{sentence}."
        if (exact := self._readings.exact.get(whole.strip())) is not None:
            yield Reading(exact.removesuffix("。")).within(*_space_of(sentence))
        candidates = [one for one in self._readings.with_holes.of(whole) if one.english.endswith(".")]
        for said in self._of_whole(whole, candidates, attrgetter("whole")):
            yield Reading(said.text.removesuffix("。"), said.left)

    def _of_ended(self, sentence: str) -> Iterator[Reading]:
        """Yield the reading of a sentence whose stop, or question mark, is not in its phrase."""
        for end, other in _ENDS:
            if sentence.endswith(end) and (said := self.find(sentence.removesuffix(end))):
                yield said.within("", other)

    def _of_aside(self, sentence: str) -> Iterator[Reading]:
        if match := _ASIDE.fullmatch(sentence):
            yield from self._of_several(match.groups(), lambda said: f"{said[0]}（{said[1]}）")

    def _of_several(
        self,
        parts: Sequence[str],
        join: Callable[[list[str]], str],
        expected: Expected = Expected.VALUE,
    ) -> Iterator[Reading]:
        """Yield the reading of parts that stand beside each other, if one of them is a phrase."""
        found = [self._of_rest(part, expected) for part in parts]
        if None not in found and [one.text for one in found if one] != list(parts):
            yield _joined([one for one in found if one], join)

    def _of_rest(self, rest: str, expected: Expected = Expected.VALUE) -> Reading | None:
        """Return what stands in a hole, beside a phrase or in a list: translated, or as it is if it is as expected."""
        if expected is Expected.ENDING:
            return Reading(rest)
        found = self.find(rest)
        if found is not None and found.left <= _MOST[expected]:
            return found
        if not _FITTING[expected](rest):
            return None
        words = len(_WORDS.findall(rest))
        return Reading(rest, words * (_SENTENCE if words > 1 else 1))


def _joined(readings: Iterable[Reading], join: Callable[[list[str]], str]) -> Reading:
    several = list(readings)
    return Reading(join([one.text for one in several]), sum(one.left for one in several))


def _listed(parts: list[str], separator: str) -> str:
    """Join the parts. A sentence keeps the space before it, unless one that needs none stands there."""
    said = parts[0]
    for part in parts[1:]:
        said += separator + (part if said[-1:].isascii() and not separator else part.lstrip())
    return said


def _space_of(sentence: str) -> tuple[str, str]:
    """Return the space at the ends of the sentence."""
    start = len(sentence) - len(sentence.lstrip())
    return sentence[:start], sentence[len(sentence.rstrip()) :]
