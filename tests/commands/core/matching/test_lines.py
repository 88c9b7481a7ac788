"""Lines as people write them lead to what they mean; a command that changes something is never run by guess."""

import shlex
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as some

from commands.command_catalogue import CATALOGUE, LEXICON
from commands.core.command import UnusableError
from commands.core.matching.interpretation import Fill, Interpretation, Offer, Run, interpret, named_command
from commands.core.matching.known_names import KnownNames
from commands.core.parameter_types import NameKind
from commands.core.parsing import words_of

CORPUS: dict[str, Any] = yaml.safe_load((Path(__file__).parent / "lines.yaml").read_text(encoding="utf-8"))
LINES: dict[str, str] = {line: meant for entry in CORPUS["lines"] for line, meant in entry.items()}
NAMES = KnownNames({NameKind(kind): names for kind, names in CORPUS["cluster"].items()})
RIGHT = 0.95  # of the lines
WORDS = sorted(
    {
        *LEXICON.words,
        *(name for names in CORPUS["cluster"].values() for name in names),
        *(
            "please",
            "the",
            "and",
            "4",
            "2h",
            "--reason",
            "fan",
            "--for",
            "--help",
            "--form",
            "--",
            "gpu-z9",
            ",",
            "?",
        ),
    }
)


def understood(line: str) -> Interpretation:
    return interpret(words_of(line), LEXICON, lambda: NAMES)


def outcomes(meaning: Interpretation) -> list[str]:
    """Return what the line leads to, in the corpus' words: one, or one for each line that is offered."""
    match meaning:
        case Run():
            return [shlex.join(meaning.words)]
        case Fill():
            return [f"form:{meaning.command.name}"]
        case Offer(lines=()):
            return ["refuse"]
        case Offer():
            return [f"suggest:{shlex.join(words)}" for words in meaning.lines]


def is_right(line: str, meant: str) -> bool:
    kind, colon, words = meant.partition(":")
    canonical = f"{kind}{colon}{shlex.join(shlex.split(words))}" if colon else shlex.join(shlex.split(meant))
    return canonical in outcomes(understood(line))


def test_the_corpus_is_large_and_has_each_line_once() -> None:
    assert len(LINES) == len(CORPUS["lines"]) >= 300
    chinese = [line for line in LINES if any("\u4e00" <= sign <= "\u9fff" for sign in line)]
    assert len(chinese) >= 50


def test_of_the_lines_that_people_write_nearly_all_lead_to_what_they_mean() -> None:
    wrong = {line: outcomes(understood(line)) for line, meant in LINES.items() if not is_right(line, meant)}
    assert len(wrong) <= (1 - RIGHT) * len(LINES), wrong


def is_run_by_guess(line: str) -> bool:
    """Return whether a command that changes something is run without having been named."""
    words = words_of(line)
    meaning = interpret(words, LEXICON, lambda: NAMES)
    if not isinstance(meaning, Run) or not meaning.command.changes_something:
        return False
    named = named_command(words, CATALOGUE)
    return named is None or named.name != meaning.command.name


@pytest.mark.parametrize("line", LINES)
def test_no_line_of_the_corpus_runs_by_guess_what_changes_something(line: str) -> None:
    assert not is_run_by_guess(line)


@given(some.lists(some.sampled_from(WORDS), max_size=8).map(shlex.join))
def test_no_line_of_known_words_runs_by_guess_what_changes_something(line: str) -> None:
    assert not is_run_by_guess(line)


@given(some.text(max_size=200))
def test_any_text_is_understood_or_refused(line: str) -> None:
    try:
        words_of(line)
    except UnusableError:
        return
    assert not is_run_by_guess(line)


@given(some.lists(some.sampled_from(WORDS), min_size=1, max_size=8))
def test_an_offered_line_is_read_as_it_is_shown(words: list[str]) -> None:
    meaning = interpret(words, LEXICON, lambda: NAMES)
    for command, line in (
        zip(meaning.commands, meaning.lines, strict=True) if isinstance(meaning, Offer) else ()
    ):
        again = interpret(words_of(shlex.join(line)), LEXICON, lambda: NAMES)
        assert isinstance(again, Run | Fill)
        assert again.command is command


@pytest.mark.parametrize("command", CATALOGUE, ids=lambda one: one.name)
def test_a_synonym_leads_to_its_command(command: Any) -> None:
    """Nothing is declared in vain: a synonym is among the phrases, and no filler words alone."""
    found = [phrase.words for phrase in LEXICON.phrases[command.name]]
    assert all(found)
    assert len(found) >= len(command.synonyms)


def test_synonyms_are_of_commands_that_exist() -> None:
    said = yaml.safe_load(Path("commands/synonyms.yaml").read_text(encoding="utf-8"))
    assert set(said["commands"]) <= {command.name for command in CATALOGUE}
    assert set(said["nouns"]) <= {command.noun for command in CATALOGUE}
