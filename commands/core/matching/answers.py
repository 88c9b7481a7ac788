"""Answers: what a line in the thread of a request says to it. `I need vision/vit` is `gpu keep` there. Pure.

A line is an answer only if all of it is explained: by what people say, by trainings that the request is about, by a
duration, and by clauses that give the reason.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import click

from commands.core.command import AnyCommand
from commands.core.matching.reasons import clauses_of
from commands.core.matching.rewording import with_durations
from commands.core.matching.tokens import MAX_WORDS, tokens_of
from commands.gates.owner_question import OwnerQuestion

MAX_ANSWERS = 3  # lines that are suggested
_DURATION = re.compile(r"(?:[0-9]{1,6}[dhm])+", re.ASCII)
_MORE = re.compile(r"\b(\d{1,5}|an?|one|two|three|four)\s+more\s+(?=hour|day|week|min|h\b)", re.IGNORECASE)
# They add nothing: what a request is about, and politeness.
_FILLERS = frozenset(
    word
    for line in (
        "a an the i we am are is was be it its this that them these those they my our of for with",
        "still really just so to too gpu gpus card cards both all training trainings job jobs run",
        "please pls plz thanks thx thank sorry hi hey but and quite",
    )
    for word in line.split()
) | frozenset("我的了吧呢啊哦请谢这那个些它他们卡显训练任务还")


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerWords:
    """What people say as one answer, without fillers, and the commands that it is.

    `to_plan` is that to the request of a plan, `to_idle` that to a request for idle GPUs, `for_a_while` that with a
    duration; empty if it is none. `is_short`: beside another answer it adds nothing: `no, I need it`.
    """

    said: frozenset[tuple[str, ...]]
    to_plan: str
    to_idle: str
    for_a_while: str = ""
    options: tuple[str, ...] = ()
    is_short: bool = False


def answer_words(declared: Iterable[Mapping[str, object]]) -> tuple[AnswerWords, ...]:
    """Return the answers that are declared in `commands/answers.yaml`."""
    found: list[AnswerWords] = []
    for one in declared:
        said, options = one["said"], one.get("options", ())
        assert isinstance(said, list)
        assert isinstance(options, Sequence)
        found.append(
            AnswerWords(
                said=frozenset(
                    _without_fillers(token.key for token in tokens_of(str(phrase).split())) for phrase in said
                ),
                to_plan=str(one.get("to_plan", "")),
                to_idle=str(one.get("to_idle", "")),
                for_a_while=str(one.get("for_a_while", "")),
                options=tuple(options),
                is_short=bool(one.get("is_short")),
            )
        )
    return tuple(found)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Clause:
    """One clause of a line: the trainings that it names, the durations, and its other words without fillers."""

    text: str
    trainings: tuple[str, ...]
    durations: tuple[str, ...]
    said: tuple[str, ...]

    @classmethod
    def of(cls, text: str, question: OwnerQuestion) -> "_Clause":
        keys = [token.key for token in tokens_of(text.replace("’", "'").split())]
        named = [(key, _training(key, question)) for key in keys]
        return cls(
            text=text,
            trainings=tuple(dict.fromkeys(label for _, label in named if label)),
            durations=tuple(key for key in keys if _DURATION.fullmatch(key)),
            said=_without_fillers(key for key, label in named if not label and not _DURATION.fullmatch(key)),
        )

    @property
    def is_empty(self) -> bool:
        return not (self.said or self.trainings or self.durations)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Answer:
    words: AnswerWords
    command: str
    clause: _Clause


def answers_in(
    words: Sequence[str],
    question: OwnerQuestion,
    known: Sequence[AnswerWords],
    catalogue: Sequence[AnyCommand],
) -> tuple[tuple[AnyCommand, tuple[str, ...]], ...]:
    """Return the commands that the line means as an answer to the question, with their words; none if it is none."""
    line = " ".join(words)
    if not words or len(words) > MAX_WORDS or "?" in line or "？" in line:
        return ()
    if any(word.startswith("-") and len(word) > 1 for word in words):
        return ()
    clauses = [_Clause.of(one, question) for one in clauses_of(with_durations(_MORE.sub(r"\1 ", line)))]
    clauses = [one for one in clauses if not one.is_empty]
    read = [(one, _answer(one, question, known)) for one in clauses]
    answers = [found for _, found in read if found is not None]
    answers = [one for one in answers if not one.words.is_short] or answers
    others = [one for one, found in read if found is None]
    if any(one.trainings for one in others):
        return ()
    reason = ", ".join(one.text for one in others)
    commands = {one.name: one for one in catalogue}
    found: dict[tuple[str, ...], AnyCommand] = {}
    for one in answers:
        command = commands.get(one.command)
        if command is None or (reason and not _takes(command, "--reason")):
            return ()
        for words_of_one in _lines(one, question, reason):
            found[words_of_one] = command
    return tuple((command, line) for line, command in found.items())[:MAX_ANSWERS]


def _answer(clause: _Clause, question: OwnerQuestion, known: Sequence[AnswerWords]) -> _Answer | None:
    """Return the answer that a clause gives; None if a word of it is not explained."""
    if len(clause.durations) > 1:
        return None
    for one in known:
        at_once = one.to_plan if question.for_plan else one.to_idle
        command = one.for_a_while if clause.durations else at_once
        is_said = clause.said in one.said or (clause.durations and not clause.said)
        if command and is_said:
            return _Answer(words=one, command=command, clause=clause)
    return None


def _lines(one: _Answer, question: OwnerQuestion, reason: str) -> Iterable[tuple[str, ...]]:
    """Yield the words of an answer: of one about some of several trainings, those about each."""
    trainings, durations = one.clause.trainings, one.clause.durations
    lasting = ("--for", durations[0]) if durations else ()
    because = ("--reason", reason) if reason else ()
    head, tail = (*one.command.split(), question.request), (*one.words.options, *lasting, *because)
    if not trainings or set(trainings) == set(question.trainings):
        yield (*head, *tail)
        return
    for training in trainings:
        yield (*head, "--training", training, *tail)


def _training(word: str, question: OwnerQuestion) -> str:
    """Return the training of the request that a word names; empty if it names none, or several."""
    named = [one for one in question.trainings if word in (one.lower(), one.lower().rpartition("/")[2])]
    return named[0] if len(named) == 1 else ""


def _without_fillers(keys: Iterable[str]) -> tuple[str, ...]:
    return tuple(key for key in keys if key not in _FILLERS)


def _takes(command: AnyCommand, option: str) -> bool:
    return any(isinstance(one, click.Option) and option in one.opts for one in command.parameters)
