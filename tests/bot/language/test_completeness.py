"""Every phrase of the code that people read has its Chinese, and the table has nothing else."""

import json
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import yaml

from bot.language.phrasebook import phrases_of
from tests.support.said_phrases import ROOT, all_strings, said_phrases, shown_words

TABLE = ROOT / "bot/language/zh"
UNSAID = Path(__file__).parent / "unsaid.yaml"
# Sentences that the code joins from several strings, and those of libraries: no string of the code is like them.
JOINED, FOREIGN = "sentences.yaml", "libraries.yaml"
NEW = '''
def said(n, log, known):
    """Not this."""
    log.info("nor this one")
    heading = ("color", "node")
    return f"{n} of them burn", known.get("a key", "no idea"), "{where} is down", "a_name", heading
'''
_WORD = re.compile("[A-Za-z]{2,}")


def test_every_phrase_of_the_code_has_its_chinese() -> None:
    known = phrases_of("zh").keys() | _unsaid()
    missing = {phrase: place for phrase, place in _gathered().items() if phrase not in known}
    assert not missing, (
        f"add to {TABLE.relative_to(ROOT)}, or what nobody reads in the chat to {UNSAID.relative_to(ROOT)}:\n"
        + _lines(missing)
    )


def test_no_entry_is_of_a_sentence_that_is_gone() -> None:
    elsewhere = _keys(JOINED) | _keys(FOREIGN)
    known = _gathered().keys() | all_strings() | elsewhere
    stale = [phrase for phrase in phrases_of("zh") if phrase not in known]
    assert not stale, "\n".join(stale)


def test_no_joined_sentence_has_a_word_that_is_gone() -> None:
    words = {word.casefold() for string in all_strings() for word in _WORD.findall(string)}
    stale = [
        phrase
        for phrase in _keys(JOINED)
        if not words.issuperset(map(str.casefold, _WORD.findall(_known(phrase))))
    ]
    assert not stale, "\n".join(stale)


def test_what_nobody_reads_is_in_the_code_and_not_in_the_table() -> None:
    unsaid = _unsaid()
    assert sorted(unsaid - _gathered().keys()) == []
    assert sorted(unsaid & phrases_of("zh").keys()) == []


def test_a_new_sentence_is_noticed(tmp_path: Path) -> None:
    """The gathering sees strings, templates and defaults, but neither names nor words for the log."""
    for package in ("collectors", "alerts/packs", "commands", "bot"):
        (tmp_path / package).mkdir(parents=True)
    (tmp_path / "bot/new.py").write_text(NEW, encoding="utf-8")
    assert list(said_phrases(tmp_path)) == ["{} of them burn", "no idea", "{} is down"]
    assert list(shown_words(tmp_path)) == ["color", "node"]


@cache
def _gathered() -> Mapping[str, str]:
    return {**said_phrases(), **shown_words()}


def _known(phrase: str) -> str:
    """The phrase without the endings of ordinal numbers, `2nd`."""
    return re.sub(r"\{\}(?:th|nd|rd)", "{}", phrase)


def _keys(name: str) -> set[str]:
    return set(yaml.safe_load((TABLE / name).read_text(encoding="utf-8")))


def _unsaid() -> set[str]:
    return set(yaml.safe_load(UNSAID.read_text(encoding="utf-8")))


def _lines(missing: Mapping[str, str]) -> str:
    """Lines to paste: the phrase, a place for its Chinese, and where it stands."""
    return "\n".join(
        f'{json.dumps(phrase, ensure_ascii=False)}: ""  # {place}' for phrase, place in missing.items()
    )
