"""The catalogue of a language: the templates and fixed words of the code in it, and how it joins a list.

Source of the plural rules: the catalogues' own `Plural-Forms`. What is not translated is English.
"""

from collections.abc import Mapping
from functools import lru_cache
from gettext import NullTranslations
from pathlib import Path
from typing import Final

from alerts.cards.sentence_spans import spans_of
from alerts.cards.text import plain
from bot.language.po import Translation, entries_of, translations_of
from collectors.facts.sentences import ENGLISH_JOINTS, ENGLISH_MORE, Joint, Sentence

_JOINTS: Final[Mapping[str, Mapping[Joint, tuple[str, str]]]] = {
    "zh": {
        ",": ("、", "、"),
        "and": ("、", " 和 "),
        "or": ("、", " 或 "),
        ";": ("；", "；"),
        ":": ("：", "："),
        ".": ("", ""),
    }
}
_MORE: Final = {"zh": "{items} 等，另有 {count} 个"}
_REASON: Final = "reason"  # the context of these in the catalogues
_FULL_STOPS: Final = {"zh": "。"}


class Catalogue:
    """What the code says, in a language. Without translations it is in English."""

    def __init__(self, language: str = "en", translations: NullTranslations | None = None) -> None:
        self._translations = translations or NullTranslations()
        self._joints = _JOINTS.get(language, ENGLISH_JOINTS)
        self._full_stop = _FULL_STOPS.get(language, ".")
        self.more = _MORE.get(language, ENGLISH_MORE)

    def joint(self, joint: Joint) -> tuple[str, str]:
        return self._joints[joint]

    def form(self, said: Sentence) -> str:
        """Return the template in this language; one that lost its full stop is found with it."""
        found = self._form(said.template, said.plural, said)
        if found != said.form or said.form.endswith("."):
            return found
        plural = f"{said.plural}." if said.plural else ""
        whole = self._form(f"{said.template}.", plural, said)
        return found if whole == f"{said.form}." else whole.removesuffix(self._full_stop)

    def name(self, words: str, hole: str = "") -> str:
        """Return an argument's text. What a rule's file gives is ours: an action's reason, a label's fixed value."""
        found = self._translations.pgettext(hole, words) if hole else words
        return self._translations.pgettext(_REASON, words) if found == words else found

    def say(self, said: str, context: str = "") -> str:
        """Return a sentence, or fixed words with the space after them; others, such as a name, as they are."""
        return plain(spans_of(said, self)) if isinstance(said, Sentence) else self._word(said, context)

    def _word(self, words: str, context: str) -> str:
        bare = words.rstrip()
        found = self._translations.pgettext(context, bare) if context else bare
        if found == bare and bare:  # what describes the catalogue has the empty id
            found = self._translations.gettext(bare)
        return f"{found}{words[len(bare) :]}"

    def _form(self, template: str, plural: str, said: Sentence) -> str:
        t, context = self._translations, said.context
        if not plural:
            return t.pgettext(context, template) if context else t.gettext(template)
        number = _plural_number(said.arguments["count"])
        if context:
            return t.npgettext(context, template, plural, number)
        return t.ngettext(template, plural, number)


def _plural_number(count: object) -> int:
    """Return the count for a plural rule, which knows whole numbers only."""
    if isinstance(count, int | float) and count == count and abs(count) < 1e15:
        return int(count) if float(count).is_integer() else 2
    return 2


ENGLISH: Final = Catalogue()


@lru_cache(maxsize=8)
def entries(language: str) -> Mapping[str, Translation]:
    """Return the translations of a language, by gettext's key. Raises ValueError for two that differ."""
    found: dict[str, Translation] = {}
    for path in sorted((Path(__file__).parent / language).glob("*.po")):
        for entry in entries_of(path.read_text(encoding="utf-8")):
            if found.setdefault(entry.key, entry) != entry:
                raise ValueError(f"{path.name}: {entry.id!r} is translated twice, and differently")
    return found


@lru_cache(maxsize=8)
def catalogue(language: str) -> Catalogue:
    """Return the catalogue of a language of the settings."""
    found = entries(language)
    return Catalogue(language, translations_of(found.values())) if found else ENGLISH
