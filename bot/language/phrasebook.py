"""The phrasebook of a language: says in it what the code says in English.

The code and the store speak English. A sentence is translated where a channel renders it: the phrase that it was made
of is found again by its fixed words, and what stood in its holes is put into the translation. What no phrase fits, such
as a name or a line from a log, stays as it is.
"""

from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Final

import yaml

from bot.language.agreement import agreeing
from bot.language.phrase import Phrase
from bot.language.readings import Readings

LONGEST = 1_000  # characters of a sentence that is looked up


class Phrasebook:
    """An empty phrasebook says everything as it is, in good English."""

    def __init__(self, phrases: Iterable[Phrase] = ()) -> None:
        self._readings = Readings(phrases)

    def __bool__(self) -> bool:
        return bool(self._readings)

    def say(self, sentence: str) -> str:
        """Return the sentence, translated as far as phrases fit."""
        if not self:
            return agreeing(sentence)
        found = self.find(sentence)
        return sentence if found is None else found

    def find(self, sentence: str) -> str | None:
        """Return the translation, or None if no phrase fits."""
        if not self or len(sentence) > LONGEST:
            return None
        found = self._readings.best(sentence)
        return found.text if found else None


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
