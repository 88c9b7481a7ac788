"""The interpretation of a line: to run it, to open a form, to suggest lines, or nothing that is known."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import click

from commands.core.command import AnyCommand
from commands.core.matching.answers import answers_in
from commands.core.matching.candidates import Candidate
from commands.core.matching.known_names import KnownNames
from commands.core.matching.lexicon import Lexicon
from commands.core.matching.matcher import match
from commands.core.matching.references import NO_THREAD, ThreadNames
from commands.core.matching.tokens import is_same_word
from commands.core.parameter_types import (
    DECORATION,
    MatchersType,
    NameType,
    in_lower_case,
    kinds_of,
    with_prefix,
)
from commands.core.parameters import is_missing
from commands.gates.owner_question import OwnerQuestion

FORM_OPTION = "--form"  # opens the command's form with what the line has
_HELP = frozenset({"--help", "-h"})
_POLITE = frozenset({"please", "pls", "plz", "thanks", "now", "谢谢", "吗", "呢", "在哪", "在哪里", "在哪儿"})
_LINKING = frozenset({"of", "for", "the", "about", "on", "in", "to"})
_AND = frozenset({"and", "&", "和", "与"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """Run this: the line names the command itself, or surely means it and it only reads."""

    command: AnyCommand
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fill:
    """Open the command's form: `words` have what is known of it."""

    command: AnyCommand
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """Suggest these lines as buttons, the likeliest first; none if nothing is known of the line."""

    commands: tuple[AnyCommand, ...] = ()
    lines: tuple[tuple[str, ...], ...] = field(default=())  # as words, one for each command


@dataclass(frozen=True, slots=True, kw_only=True)
class Absent(Offer):
    """Say that no command does what the line asks for, in its `verb`, and suggest what is nearest."""

    verb: str


Interpretation = Run | Fill | Offer


def named_command(words: Sequence[str], catalogue: Sequence[AnyCommand]) -> AnyCommand | None:
    """Return the command whose name the line begins with, in any case."""
    first = [word.strip(DECORATION).lower() or word for word in words[:2]]
    for command in catalogue:
        name = command.name.split()
        if name and first[: len(name)] == name:
            return command
    return None


def changes_something(line: str, catalogue: Sequence[AnyCommand]) -> bool:
    """Return whether a line begins with the name of a command that changes something, as *Confirm* does."""
    command = named_command(line.split(maxsplit=2)[:2], catalogue)
    return command is not None and command.changes_something


def interpret(
    words: Sequence[str],
    lexicon: Lexicon,
    names: Callable[[], KnownNames],
    thread: ThreadNames = NO_THREAD,
) -> Interpretation:
    """Return what to do with the words of a line, in the `thread` of an incident or in none.

    A command that changes something at once is run only by its own name; one with a preview also by a line that is
    complete and can mean nothing else. `names` is called only for a line that does not begin with a command's name.
    """
    head, rest = _split_extra(words)
    if _HELP & set(head):
        return _help([word for word in head if word not in _HELP], lexicon, names)
    is_form = FORM_OPTION in head
    head = [word for word in head if word != FORM_OPTION]
    command = named_command(head, lexicon.catalogue)
    if command is None:
        return _matched([*head, *rest], lexicon, names, thread)
    if command.name == "help" and len(head) > 1:
        return _help(head[1:], lexicon, names)
    if _has_words_too_many(command, head) and _means(
        found := _matched([*head, *rest], lexicon, names, thread), command
    ):
        return found
    cleaned = (*command.name.split(), *_cleaned(command, head[len(command.name.split()) :]), *rest)
    kept = _without_fillers(command, cleaned) if _takes_names(command) else cleaned
    kept = with_thread(command, kept, thread)
    if len(kept) < len(cleaned) and command.changes_something:
        return Offer(commands=(command,), lines=(kept,))
    if is_form or missing_arguments(command, kept):
        return Fill(command=command, words=kept)
    return Run(command=command, words=kept)


def is_interpreted(words: Sequence[str], lexicon: Lexicon) -> bool:
    """Return whether `interpret` has to find out what a line means: it is not a command with its arguments."""
    head, _ = _split_extra(words)
    command = named_command(head, lexicon.catalogue)
    return command is None or command.name == "help" or _has_words_too_many(command, head)


def interpret_answer(words: Sequence[str], question: OwnerQuestion, lexicon: Lexicon) -> Run | Offer | None:
    """Return what to do with a line that answers the request in whose thread it was typed; None if it does not.

    As everywhere, what changes something at once is run by its own name only, and by other words it is a button.
    """
    if named_command(words, lexicon.catalogue) is not None:
        return None
    match answers_in(words, question, lexicon.answers, lexicon.catalogue):
        case ():
            return None
        case ((command, line),) if command.record is None:
            return Run(command=command, words=line)
        case found:
            return Offer(
                commands=tuple(command for command, _ in found), lines=tuple(line for _, line in found)
            )


def _without_fillers(command: AnyCommand, words: Sequence[str]) -> tuple[str, ...]:
    """Return the words without `and`, `please` and the like, but for the value of an option: `--reason now`."""
    valued = {
        name
        for option in command.parameters
        if isinstance(option, click.Option) and not option.is_flag
        for name in option.opts
    }
    pairs = pairwise(("", *words))
    return tuple(word for before, word in pairs if before in valued or word not in _AND | _POLITE)


def missing_arguments(command: AnyCommand, words: Sequence[str]) -> tuple[click.Parameter, ...]:
    """Return the required parameters that have no value at all. Whether a value is a good one, parsing says."""
    head, _ = _split_extra(words[len(command.name.split()) :])
    given = {word.partition("=")[0] for word in head}
    has_positional = bool(positional_words(command, head))
    return tuple(
        parameter
        for parameter in command.parameters
        if is_missing(parameter, given, has_value=has_positional)
    )


def positional_words(command: AnyCommand, words: Sequence[str]) -> list[int]:
    """Return where the positional arguments are: neither options nor their values."""
    options = [one for one in command.parameters if isinstance(one, click.Option)]
    takes_value = {flag for one in options if not one.is_flag for flag in one.opts}
    return [
        at
        for at, word in enumerate(words)
        if not word.startswith("-") and (not at or words[at - 1] not in takes_value)
    ]


def with_thread(command: AnyCommand, words: tuple[str, ...], thread: ThreadNames) -> tuple[str, ...]:
    """Return the words of a named command; its first argument, if it has none, is what the thread concerns."""
    size = len(command.name.split())
    first = next((one for one in command.parameters if isinstance(one, click.Argument)), None)
    kind = next((one for one in (kinds_of(first) if first else ()) if one in thread), None)
    if (
        kind is None
        or isinstance(first and first.type, MatchersType)
        or positional_words(command, words[size:])
    ):
        return words
    return (*words[:size], thread[kind], *words[size:])


def _matched(
    words: Sequence[str],
    lexicon: Lexicon,
    names: Callable[[], KnownNames],
    thread: ThreadNames,
) -> Interpretation:
    found = match(words, lexicon, names(), thread)
    if found.absent:
        return Absent(
            verb=found.absent,
            commands=tuple(one.command for one in found.candidates),
            lines=_offered(found.candidates),
        )
    if not found.candidates:
        return Offer()
    best = found.candidates[0]
    if found.is_sure and best.command.name == "help":
        return Run(command=best.command, words=("help",))
    if found.is_sure and found.is_how and best.missing and best.command.changes_something:
        usage = next(one for one in lexicon.catalogue if one.name == "help")
        return Run(command=usage, words=("help", *best.command.name.split()))
    if found.is_sure and best.missing and not (found.is_question and best.command.changes_something):
        return Fill(command=best.command, words=best.words)
    if found.is_sure and best.command.record is None and not (found.is_question and best.command.plan):
        return Run(command=best.command, words=best.words)
    return Offer(
        commands=tuple(one.command for one in found.candidates),
        lines=_offered(found.candidates),
    )


def _offered(candidates: Sequence[Candidate]) -> tuple[tuple[str, ...], ...]:
    """Return the lines of the candidates; one that lacks something opens its form."""
    return tuple(one.words if not one.missing else (*one.words, FORM_OPTION) for one in candidates)


def _help(words: Sequence[str], lexicon: Lexicon, names: Callable[[], KnownNames]) -> Interpretation:
    """Return the help of the command that the words name, however they name it."""
    command = next(one for one in lexicon.catalogue if one.name == "help")
    asked = named_command(words, lexicon.catalogue)
    nouns = {one.noun for one in lexicon.catalogue}
    noun = next((one for one in nouns if len(words) == 1 and is_same_word(words[0].lower(), one)), "")
    if asked is None and noun:
        return Run(command=command, words=("help", noun))
    if asked is None and words:
        found = match(words, lexicon, names()).candidates
        asked = found[0].command if found else None
    if asked is None:
        return Run(command=command, words=("help", *words))
    return Run(command=command, words=("help", *(asked.name.split() if asked is not command else ())))


def _cleaned(command: AnyCommand, words: Sequence[str]) -> list[str]:
    """Return the arguments with names bare of commas and quotes, where the command takes names."""
    if not _takes_names(command):
        return _without_full_stop(command, words)
    places = set(positional_words(command, words))
    has_capitals = any(
        isinstance(one.type, NameType) and one.type.keeps_case
        for one in command.parameters
        if isinstance(one, click.Argument)
    )
    kinds = [kind for one in command.parameters if isinstance(one, click.Argument) for kind in kinds_of(one)]
    found: list[str] = []
    for at, word in enumerate(words):
        if at in places:
            bare = [one for piece in word.split(",") if (one := piece.strip(DECORATION))] or [word]
            found += [with_prefix(one if has_capitals else in_lower_case(one), kinds) for one in bare]
        else:
            found.append(word)
    return found


def _without_full_stop(command: AnyCommand, words: Sequence[str]) -> list[str]:
    """Return the words of a command without arguments without a lone full stop or question mark."""
    takes = any(isinstance(one, click.Argument) for one in command.parameters)
    return [word for word in words if takes or word.strip(DECORATION)]


def _has_words_too_many(command: AnyCommand, words: Sequence[str]) -> bool:
    """Return whether what follows the name is not an argument: `node list of rack-a`, `runbook for etcd`."""
    following = words[len(command.name.split()) :]
    places = positional_words(command, following)
    takes = any(isinstance(one, click.Argument) for one in command.parameters)
    return bool(places) and (not takes or any(following[place].lower() in _LINKING for place in places))


def _means(meaning: Interpretation, command: AnyCommand) -> bool:
    if isinstance(meaning, Offer):
        return command in meaning.commands
    return meaning.command is command


def _takes_names(command: AnyCommand) -> bool:
    arguments = [one for one in command.parameters if isinstance(one, click.Argument)]
    return bool(arguments) and all(isinstance(one.type, NameType) for one in arguments)


def _split_extra(words: Sequence[str]) -> tuple[list[str], list[str]]:
    """Cut off `--` and what follows: it is for the program that is launched."""
    cut = words.index("--") if "--" in words else len(words)
    return list(words[:cut]), list(words[cut:])
