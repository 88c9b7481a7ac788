"""The phrasebook of a language: says in it what the code says in English.

The code and the store speak English. A sentence is translated where a channel renders it: the phrase that it was made
of is found again by its fixed words, and what stood in its holes is put into the translation. What no phrase fits, such
as a name or a line from a log, stays as it is. A `Sentence` needs none of it: see `message_catalogue.py`.
"""

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Final

import yaml

from bot.language.agreement import agreeing
from bot.language.message_catalogue import Catalogue, entries
from bot.language.phrase import WORD, Phrase
from bot.language.po import Translation, translations_of
from bot.language.readings import Readings
from collectors.facts.sentences import Sentence, holes

_HOLE = re.compile(r"\{(\w+)(?::[^{}]*)?\}")
# Words of a template that is also looked for in plain English, while some code still produces it that way.
_LEAST = 3
LONGEST = 1_000  # characters of a sentence that is looked up


class Phrasebook:
    """What the edge says in a language: sentences by their template, fixed words, and other English by its phrases.

    An empty phrasebook says everything as it is, in good English.
    """

    def __init__(
        self, phrases: Iterable[Phrase] = (), language: str = "en", entries: Iterable[Translation] = ()
    ) -> None:
        self._readings = Readings(phrases)
        known = tuple(entries)
        self.catalogue = Catalogue(language, translations_of(known) if known else None, self._of_name)

    def __bool__(self) -> bool:
        return bool(self._readings)

    def say(self, sentence: str, context: str = "") -> str:
        """Return the sentence, translated as far as the catalogue or phrases have it."""
        if isinstance(sentence, Sentence):
            return self.catalogue.say(sentence)
        if not self:
            return agreeing(sentence)
        if (words := self.catalogue.word(sentence, context)) is not None:
            return words
        found = self.find(sentence)
        return sentence if found is None else found

    def find(self, sentence: str) -> str | None:
        """Return the translation, or None if no phrase fits."""
        if not self or len(sentence) > LONGEST:
            return None
        found = self._readings.best(sentence)
        return found.text if found else None

    def _of_name(self, words: str) -> str:
        """Return an argument: until all of the code makes sentences, words of ours may still be plain strings."""
        return words if " " not in words else self.find(words) or words


ENGLISH: Final = Phrasebook()


def phrases_of(language: str) -> Mapping[str, str]:
    """Return the translations of a language by their English phrases. Raises ValueError for a phrase said twice."""
    phrases: dict[str, str] = {}
    for path in sorted((Path(__file__).parent / language).glob("*.yaml")):
        for english, other in (yaml.safe_load(path.read_text(encoding="utf-8")) or {}).items():
            if english in phrases:
                raise ValueError(f"{path.name}: {english!r} is translated twice")
            phrases[english] = other
    for entry in entries(language).values():
        for english in filter(None, (entry.plural, entry.id)):
            if (
                english[0].isalpha()
                or not holes(english)
                or len(WORD.findall(_HOLE.sub("", english))) >= _LEAST
            ):
                phrases.setdefault(_HOLE.sub("{}", english), _numbered(entry.said[-1], english))
    return phrases


def _numbered(words: str, english: str) -> str:
    """Return a template with the numbers of its holes in the English one instead of their names; in code, without."""
    names = [name for part in english.split("`")[::2] for name in _HOLE.findall(part)]

    def number(found: re.Match[str]) -> str:
        return f"{{{names.index(found[1])}}}"

    return "`".join(
        _HOLE.sub("{}" if place % 2 else number, part) for place, part in enumerate(words.split("`"))
    )


@lru_cache(maxsize=8)
def phrasebook(language: str) -> Phrasebook:
    """Return the phrasebook of a language of the settings; English needs none."""
    phrases = (Phrase(english, other) for english, other in phrases_of(language).items())
    return Phrasebook(phrases, language, entries(language).values())
