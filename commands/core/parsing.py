"""Parsing of command lines into a command and its typed action."""

import contextlib
import re
import shlex
from collections.abc import Sequence
from functools import partial
from typing import Any

import click

from collectors.facts.sentences import as_code, said_by, sentence
from commands.core.command import AnyCommand, UnusableError
from commands.core.matching.spelling import meant_by
from commands.core.usage_errors import explained

MAX_LINE = 4_000  # characters
_APOSTROPHE = re.compile(r"(?<=\w)'(?=\w)")  # what's


def words_of(line: str) -> list[str]:
    """Split a line as a shell would, without running anything. Raises UnusableError on an open quote."""
    if len(line) > MAX_LINE:
        raise UnusableError(
            sentence(
                "The line is {length} characters long; the limit is {most}.", length=len(line), most=MAX_LINE
            )
        )
    try:
        return shlex.split(line)
    except ValueError as error:
        with contextlib.suppress(ValueError):
            return shlex.split(_APOSTROPHE.sub(r"\'", line))
        raise UnusableError(
            sentence("The line cannot be parsed: a quote is not closed ({error}).", error=said_by(error))
        ) from error


def find(words: Sequence[str], catalogue: Sequence[AnyCommand]) -> AnyCommand:
    """Return the command that the first words name. Raises UnusableError with the wrong word and suggestions."""
    if not words:
        raise UnusableError(sentence("The line is empty. Try `help`."))
    for command in catalogue:
        name = command.name.split()
        if list(words[: len(name)]) == name:
            return command
    nouns = sorted({command.noun for command in catalogue})
    noun = words[0]
    if noun not in nouns:
        raise UnusableError(_unknown(noun, words, catalogue))
    verbs = sorted(command.verb for command in catalogue if command.noun == noun)
    available = as_code(f"{noun} {verb}" for verb in verbs)
    if len(words) == 1:
        raise UnusableError(sentence("`{noun}` needs a verb: {commands}.", noun=noun, commands=available))
    if close := meant_by(words[1].lower(), verbs):
        meant = next(c for c in catalogue if c.noun == noun and c.verb == close)
        raise UnusableError(
            sentence(
                "`{noun}` has no verb `{verb}`: did you mean `{meant}`? Usage: `{usage}`",
                noun=noun,
                verb=words[1],
                meant=meant.name,
                usage=meant.usage,
            )
        )
    raise UnusableError(
        sentence(
            "`{noun}` has no verb `{verb}`. Available: {commands}.",
            noun=noun,
            verb=words[1],
            commands=available,
        )
    )


def action_of(command: AnyCommand, words: Sequence[str]) -> Any:
    """Return the typed action from the words after the command's name. Raises UnusableError with the usage."""
    shell = click.Command(
        command.name, params=list(command.parameters), add_help_option=False, callback=command.action
    )
    rest = list(words[len(command.name.split()) :])
    if command.allows_extra:
        cut = rest.index("--") if "--" in rest else len(rest)
        rest, extra = rest[:cut], tuple(rest[cut + 1 :])
        shell.callback = partial(command.action, extra=extra)
    try:
        context = shell.make_context(command.name, [*rest])
        return shell.invoke(context)
    except click.UsageError as error:
        raise UnusableError(
            sentence(
                "{wrong} Usage: `{usage}`, for example `{example}`",
                wrong=explained(error, command, rest),
                usage=command.usage,
                example=command.example,
            )
        ) from error


def parse_line(line: str, catalogue: Sequence[AnyCommand]) -> tuple[AnyCommand, Any]:
    """Return the command and its action."""
    words = words_of(line)
    command = find(words, catalogue)
    return command, action_of(command, words)


def _unknown(noun: str, words: Sequence[str], catalogue: Sequence[AnyCommand]) -> str:
    typed = " ".join(words[:2])
    names = {command.name: command for command in catalogue}
    nouns = sorted({command.noun for command in catalogue})
    near = meant_by(noun.lower(), nouns)
    close = [near_name] if (near_name := meant_by(typed.lower(), tuple(names))) else []
    close += [name for name in names if name.split()[0] == near]
    swapped = " ".join(reversed(words[:2]))
    meant = names.get(swapped) or (names[close[0]] if close else None)
    if meant is not None:
        return sentence(
            "Unknown command `{noun}`: did you mean `{meant}`? Usage: `{usage}`",
            noun=noun,
            meant=meant.name,
            usage=meant.usage,
        )
    return sentence(
        "Unknown command `{noun}`. Commands: {commands}. `help` shows more.",
        noun=noun,
        commands=as_code(nouns),
    )
