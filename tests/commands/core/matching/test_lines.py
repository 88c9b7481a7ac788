"""Lines as people write them lead to what they mean; a command that changes something is never run by guess."""

import shlex
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some

from commands.command_catalogue import CATALOGUE, LEXICON
from commands.core.command import UnusableError
from commands.core.matching.interpretation import (
    FORM_OPTION,
    Absent,
    Fill,
    Interpretation,
    Offer,
    Run,
    interpret,
    named_command,
)
from commands.core.matching.known_names import KnownNames
from commands.core.matching.references import NO_THREAD, ThreadNames
from commands.core.parameter_types import NameKind
from commands.core.parsing import words_of
from tests.support.quick_yaml import from_yaml


def read(name: str) -> dict[str, Any]:
    found: dict[str, Any] = from_yaml((Path(__file__).parent / name).read_text(encoding="utf-8"))
    return found


CORPUS = read("lines.yaml")
LINES: dict[str, str] = {line: meant for entry in CORPUS["lines"] for line, meant in entry.items()}
THREADS: dict[str, ThreadNames] = {
    incident: {NameKind(kind): name for kind, name in about.items()}
    for incident, about in CORPUS["threads"].items()
}
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


def understood(line: str, thread: str = "") -> Interpretation:
    return interpret(words_of(line), LEXICON, lambda: NAMES, THREADS[thread] if thread else NO_THREAD)


def outcomes(meaning: Interpretation) -> list[str]:
    """Return what the line leads to, in the corpus' words: one, or one for each line that is suggested."""
    match meaning:
        case Run():
            return [shlex.join(meaning.words)]
        case Fill():
            return [f"form:{meaning.command.name}"]
        case Offer(lines=()):
            return ["refuse"]
        case Absent():
            return [
                f"nearest:{shlex.join(one for one in words if one != FORM_OPTION)}" for words in meaning.lines
            ]
        case Offer():
            return [f"suggest:{shlex.join(words)}" for words in meaning.lines]


def is_right(line: str, meant: str, thread: str = "") -> bool:
    kind, colon, words = meant.partition(":")
    canonical = f"{kind}{colon}{shlex.join(shlex.split(words))}" if colon else shlex.join(shlex.split(meant))
    return canonical in outcomes(understood(line, thread))


def test_the_corpus_is_large_and_has_each_line_once() -> None:
    assert len(LINES) == len(CORPUS["lines"]) >= 300
    chinese = [line for line in LINES if any("\u4e00" <= sign <= "\u9fff" for sign in line)]
    assert len(chinese) >= 50


def test_of_the_lines_that_people_write_nearly_all_lead_to_what_they_mean() -> None:
    wrong = {line: outcomes(understood(line)) for line, meant in LINES.items() if not is_right(line, meant)}
    assert len(wrong) <= (1 - RIGHT) * len(LINES), wrong


def entries(name: str) -> list[tuple[str, str, list[str]]]:
    """Return the thread, or "" for none, the line, and all that is right, of each line of a file."""
    found = read(name)
    by_thread = {"": found["lines"], **found["in_thread"]}
    return [
        (thread, line, [meant] if isinstance(meant, str) else meant)
        for thread, listed in by_thread.items()
        for entry in listed
        for line, meant in entry.items()
    ]


TYPED = entries("typed_lines.yaml")
HELD_OUT = entries("held_out_lines.yaml")


def missed(lines: list[tuple[str, str, list[str]]]) -> dict[str, list[str]]:
    return {
        f"{thread} {line}".strip(): outcomes(understood(line, thread))
        for thread, line, meant in lines
        if not any(is_right(line, one, thread) for one in meant)
    }


def test_of_the_lines_in_both_places_nearly_all_lead_to_what_they_mean() -> None:
    assert len(TYPED) == 100
    assert len(missed(TYPED)) <= (1 - RIGHT) * len(TYPED), missed(TYPED)


def test_of_the_lines_that_nobody_worked_on_no_more_are_missed_than_when_they_were_scored() -> None:
    assert len(HELD_OUT) == 100
    known = {line for entry in read("held_out_lines.yaml")["missed"] for line in entry}
    assert set(missed(HELD_OUT)) <= known, missed(HELD_OUT)


def is_run_by_guess(line: str, thread: str = "") -> bool:
    """Return whether a command that changes something at once is run without having been named.

    One with a preview may be meant by other words, as the preview is what somebody confirms.
    """
    words = words_of(line)
    meaning = understood(line, thread)
    if not isinstance(meaning, Run) or meaning.command.record is None:
        return False
    named = named_command(words, CATALOGUE)
    return named is None or named.name != meaning.command.name


def test_no_line_in_a_thread_runs_by_guess_what_changes_something() -> None:
    run = [line for thread, line, _ in (*TYPED, *HELD_OUT) if is_run_by_guess(line, thread)]
    assert run == []


@pytest.mark.parametrize(
    "line",
    [
        "who cordoned gpu-b03",
        "why is gpu-b03 cordoned",
        "did you drain gpu-b03?",
        "do not cordon gpu-b03",
        "别隔离 gpu-b03",
        "谁隔离了 gpu-b03",
        "should i cordon gpu-b03?",
        "cordn gpu-b03",
    ],
)
def test_a_question_a_warning_and_a_guess_start_no_plan(line: str) -> None:
    meaning = understood(line)
    assert isinstance(meaning, Offer) or meaning.command.read is not None


@pytest.mark.parametrize(
    ("line", "never"),
    [
        ("reboot gpu-b03", "runbook"),
        ("unlock gpu-b03", "runbook"),
        ("launch bert with 4 workers", "plan show"),
        ("do not cordon gpu-b03", "node cordon"),
        ("release the gpus of tts", "training show"),
        ("show it", "dns show"),
    ],
)
def test_what_shares_no_meaning_with_a_line_is_not_offered(line: str, never: str) -> None:
    meaning = understood(line)
    meant = meaning.commands if isinstance(meaning, Offer) else (meaning.command,)
    assert never not in {command.name for command in meant}


@pytest.mark.parametrize(
    ("line", "thread", "leads_to"),
    [
        ("what killed it", "i6", ["training show speech-tts/tts"]),
        ("别响了 2 小时", "i3", ["suggest:silence incident i3 --for 2h"]),
        ("drain 它,理由 fan 坏了,先问 owner", "i3", ["node drain gpu-a02 --ask-owners --reason 'fan 坏了'"]),
        ("先别让新任务上来", "i3", ["node cordon gpu-a02"]),
        ("give to bo", "i3", ["suggest:alert hand-over i3 bo"]),
        ("runbook 在哪", "i3", ["runbook gpu-xid-error"]),
        ("set the threshold to 90", "i3", ["nearest:silence incident i3", "nearest:rule doctor"]),
        ("it is down, gpu-b03 too", "i3", ["refuse"]),
    ],
)
def test_what_else_people_type_in_a_thread(line: str, thread: str, leads_to: list[str]) -> None:
    assert outcomes(understood(line, thread)) == leads_to


@pytest.mark.parametrize(
    "line",
    [
        "do not cordon gpu-b03, it is busy",
        "cordon gpu-b03, or drain it",
        "who cordoned gpu-b03, a fan?",
        "cordon gpu-b03, not yet",
    ],
)
def test_a_clause_of_a_warning_a_question_or_a_second_command_is_no_reason(line: str) -> None:
    assert not any("--reason" in one for one in outcomes(understood(line)))


def test_an_explicit_name_goes_before_the_thread() -> None:
    assert outcomes(understood("cordon gpu-b03", "i3")) == ["node cordon gpu-b03"]
    assert outcomes(understood("cordon the node gpu-b03", "i3")) == ["node cordon gpu-b03"]
    assert outcomes(understood("ack i12", "i3")) == ["suggest:alert ack i12"]


def test_what_a_thread_concerns_several_of_is_asked_for() -> None:
    """An incident of two nodes has no `that node`."""
    assert outcomes(understood("cordon that node", "i12")) == ["form:node cordon"]


def test_no_line_of_the_corpus_runs_by_guess_what_changes_something() -> None:
    assert [line for line in LINES if is_run_by_guess(line)] == []


@given(some.lists(some.sampled_from(WORDS), max_size=8).map(shlex.join))
def test_no_line_of_known_words_runs_by_guess_what_changes_something(line: str) -> None:
    assert not is_run_by_guess(line)


@given(
    some.lists(some.sampled_from([*WORDS, "it", "this", "that", "the", "node", "它"]), max_size=8).map(
        shlex.join
    ),
    some.sampled_from(sorted(THREADS)),
)
def test_no_line_of_known_words_in_a_thread_runs_by_guess_what_changes_something(
    line: str, thread: str
) -> None:
    assert not is_run_by_guess(line, thread)


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
    said = from_yaml(Path("commands/synonyms.yaml").read_text(encoding="utf-8"))
    assert set(said["commands"]) <= {command.name for command in CATALOGUE}
    assert set(said["nouns"]) <= {
        *(command.noun for command in CATALOGUE),
        *(kind.value for kind in NameKind),
    }
    verbs = {command.verb for command in CATALOGUE}
    assert set(said["verbs"]) <= verbs
    assert {verb for one in said["questions"] for verb in one["answered_by"]} <= {
        *verbs,
        *(one.name for one in CATALOGUE),
    }
    assert {name for one in said["absent"] for name in one["nearest"]} <= {
        command.name for command in CATALOGUE
    }
