"""The phrasebook of a language: says in it what the code says in English.

The code and the store speak English. A sentence is translated where a channel renders it: the phrase that it was made
of is found again by its fixed words, and what stood in its holes is put into the translation. What no phrase fits, such
as a name or a line from a log, stays as it is.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from operator import attrgetter
from pathlib import Path
from typing import Final

import yaml

from bot.language.phrase import Expected, Phrase, Position
from collectors.facts.patterns import Pattern

LONGEST = 2_000  # characters of a sentence that is looked up
DEPTH = 8  # sentences within holes of sentences
CACHED = 4_096  # sentences
_VALUE_WORDS = 2  # what has no more words needs no translation: a name, a number with its unit
Separators = Iterable[tuple[re.Pattern[str], str]]

# What joins sentences and names, and how the other language joins them. A sentence keeps its own full stop.
_LISTS = tuple(
    (re.compile(english), other)
    for english, other in (
        (" · ", " · "),
        (r"(?<=[.!?])(?= )", ""),
        ("; ", "；"),
        (", ", "、"),
    )
)
_HEADED = ((re.compile(": "), "："),)  # a name or a sentence before another
_VALUE = re.compile(r"\W*\S*\W*|\W*\d\S* \S+")  # a word, or a number with its unit
_ENGLISH = re.compile(r"\W*[A-Za-z]?[a-z]+\W*")
_FITTING: Mapping[Expected, Callable[[str], bool]] = {
    Expected.ANYTHING: lambda _: True,
    Expected.VALUE: lambda hole: bool(_VALUE.fullmatch(hole)),
    Expected.SYMBOL: lambda hole: bool(_VALUE.fullmatch(hole)) and not _ENGLISH.fullmatch(hole),
}
_ENDS = ((".", "。"), ("?", "？"))
_LEFT = re.compile(r"(?:^|[^\w`./-])[A-Za-z]?[a-z]+(?=$|[^\w`./-])")  # English words that are no names
_MARKED = re.compile(
    r"((?:[^\w\s`“(…\ue000-\uf8ff]+|\d+\.) )(.+)", re.DOTALL
)  # a mark or a number before a sentence
_ASIDE = re.compile(r"(.+) \(([^()]+)\)", re.DOTALL)  # a sentence and, in parentheses, another


class Phrasebook:
    """`say` translates a sentence as far as phrases fit, `find` as a whole or not at all (None).

    An empty phrasebook says everything as it is.
    """

    def __init__(self, phrases: Iterable[Phrase] = ()) -> None:
        by_weight = sorted(phrases, key=lambda phrase: (-phrase.weight, phrase.position is Position.WHOLE))
        self._exact = {phrase.english: phrase.other for phrase in by_weight if not phrase.has_holes}
        self._with_holes = [phrase for phrase in by_weight if phrase.has_holes]
        self._parts = [phrase for phrase in by_weight if phrase.position is not Position.WHOLE]
        self.say = lru_cache(maxsize=CACHED)(self._say)
        self.find = lru_cache(maxsize=CACHED)(self._find)
        self._translated = lru_cache(maxsize=CACHED)(self._translate)

    def __bool__(self) -> bool:
        return bool(self._exact or self._with_holes)

    def _say(self, sentence: str) -> str:
        found = self._find(sentence)
        return sentence if found is None else found

    def _find(self, sentence: str) -> str | None:
        if not self or len(sentence) > LONGEST:
            return None
        return self._translated(sentence, DEPTH)

    def _translate(self, sentence: str, depth: int) -> str | None:
        """Return the reading that leaves the fewest English words, or None if no phrase fits."""
        core = sentence.strip()
        if not depth or not core:
            return None
        if (found := self._exact.get(sentence)) is not None:
            return found
        for words in (core, core[:1].lower() + core[1:]):
            if (found := self._exact.get(words)) is not None:
                return _with_space_of(sentence, found)
        best: tuple[int, str] | None = None
        for said in self._readings(sentence, depth):
            left = len(_LEFT.findall(said))
            if not left:
                return said
            if best is None or left < best[0]:
                best = left, said
        return best[1] if best else None

    def _readings(self, sentence: str, depth: int) -> Iterator[str]:
        """Yield what the sentence may mean, the likeliest first."""
        candidates = [phrase for phrase in self._with_holes if phrase.fixed in sentence]
        yield from self._of_whole(sentence, candidates, attrgetter("whole"), depth)
        yield from self._of_marked(sentence, depth)
        yield from self._of_ended(sentence, depth)
        yield from self._of_list(sentence, _LISTS, depth)
        yield from self._of_parts(sentence, depth)
        yield from self._of_list(sentence, _HEADED, depth)
        yield from self._of_aside(sentence, depth)
        yield from self._of_whole(sentence, candidates, attrgetter("loose"), depth)

    def _of_whole(
        self, sentence: str, candidates: Iterable[Phrase], pattern: Callable[[Phrase], Pattern], depth: int
    ) -> Iterator[str]:
        for phrase in candidates:
            match = pattern(phrase).fullmatch(sentence)
            if match and (holes := self._of_holes(phrase, match.groups(), depth)) is not None:
                said = phrase.filled(holes)
                yield said if phrase.position is not Position.WHOLE else _with_space_of(sentence, said)

    def _of_holes(self, phrase: Phrase, holes: Iterable[str | None], depth: int) -> list[str] | None:
        """Return what stands in the holes, translated where it can be; None if the phrase says too little for it."""
        said: list[str] = []
        for given, expected in zip(holes, phrase.expected, strict=True):
            hole = given or ""
            found = self._translated(hole, depth - 1)
            if found is None and not _FITTING[expected](hole):
                return None
            said.append(hole if found is None else found)
        return said

    def _of_parts(self, sentence: str, depth: int) -> Iterator[str]:
        """Yield the translations of a sentence that several phrases were joined to."""
        for phrase in self._parts:
            if phrase.fixed not in sentence or not (match := phrase.part.fullmatch(sentence)):
                continue
            groups = [group or "" for group in match.groups()]
            before = [groups.pop(0)] if phrase.position in (Position.END, Position.BETWEEN) else []
            after = [groups.pop()] if phrase.position in (Position.BEGINNING, Position.BETWEEN) else []
            beside = {rest: self._of_rest(rest, depth) for rest in (*before, *after)}
            holes = self._of_holes(phrase, groups, depth)
            if holes is not None and None not in beside.values():
                start, end = ("".join(beside[one] or "" for one in rests) for rests in (before, after))
                yield f"{start}{phrase.filled(holes)}{end}"

    def _of_list(self, sentence: str, separators: Separators, depth: int) -> Iterator[str]:
        for separator, other in separators:
            parts = separator.split(sentence)
            if len(parts) > 1:
                said = [self._of_rest(part, depth) for part in parts]
                if None not in said and said != parts:
                    first, *more = (part or "" for part in said)
                    yield other.join((first, *(part.lstrip() for part in more)))

    def _of_marked(self, sentence: str, depth: int) -> Iterator[str]:
        if (match := _MARKED.fullmatch(sentence)) and (said := self._translated(match[2], depth - 1)):
            yield f"{match[1]}{said}"

    def _of_ended(self, sentence: str, depth: int) -> Iterator[str]:
        """Yield the translation of a sentence whose stop, or question mark, is not in its phrase."""
        for end, other in _ENDS:
            if sentence.endswith(end) and (said := self._translated(sentence.removesuffix(end), depth - 1)):
                yield f"{said}{other}"

    def _of_aside(self, sentence: str, depth: int) -> Iterator[str]:
        if match := _ASIDE.fullmatch(sentence):
            said = [self._of_rest(part, depth) for part in match.groups()]
            if None not in said and said != list(match.groups()):
                yield f"{said[0]}（{said[1]}）"

    def _of_rest(self, rest: str, depth: int) -> str | None:
        """Return what stands beside a phrase, or in a list: translated, or as it is if it is a value."""
        found = self._translated(rest, depth - 1)
        return rest if found is None and len(rest.split()) <= _VALUE_WORDS else found


def _with_space_of(sentence: str, said: str) -> str:
    """Return `said` with the space that stands at the ends of the sentence."""
    start = len(sentence) - len(sentence.lstrip())
    return f"{sentence[:start]}{said}{sentence[len(sentence.rstrip()) :]}"


ENGLISH: Final = Phrasebook()


def phrases_of(language: str) -> Mapping[str, str]:
    """Return the translations of a language by their English phrases. Raises ValueError for a phrase said twice."""
    phrases: dict[str, str] = {}
    for path in sorted((Path(__file__).parent / language).glob("*.yaml")):
        for english, other in (yaml.safe_load(path.read_text(encoding="utf-8")) or {}).items():
            if english in phrases:
                raise ValueError(f"{path.name}: {english!r} is translated twice")
            phrases[english] = other
    return phrases


@lru_cache(maxsize=8)
def phrasebook(language: str) -> Phrasebook:
    """Return the phrasebook of a language of the settings; English needs none."""
    return Phrasebook(Phrase(english, other) for english, other in phrases_of(language).items())
