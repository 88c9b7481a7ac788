"""Parsing of command lines into a command and its typed action."""

import contextlib
import re
import shlex
from collections.abc import Sequence
from functools import partial
from typing import Any

import click

from commands.core.command import AnyCommand, UnusableError
from commands.core.matching.spelling import meant_by
from commands.core.usage_errors import explained

MAX_LINE = 4_000  # characters
_APOSTROPHE = re.compile(r"(?<=\w)'(?=\w)")  # what's


def words_of(line: str) -> list[str]:
    """Split a line as a shell would, without running anything. Raises UnusableError on an open quote."""
    if len(line) > MAX_LINE:
        raise UnusableError(f"The line is {len(line)} characters long; the limit is {MAX_LINE}.")
    try:
        return shlex.split(line)
    except ValueError as error:
        with contextlib.suppress(ValueError):
            return shlex.split(_APOSTROPHE.sub(r"\'", line))
        raise UnusableError(f"The line cannot be parsed: a quote is not closed ({error}).") from error


def find(words: Sequence[str], catalogue: Sequence[AnyCommand]) -> AnyCommand:
    """Return the command that the first words name. Raises UnusableError with the wrong word and suggestions."""
    if not words:
        raise UnusableError("The line is empty. Try `help`.")
    for command in catalogue:
        name = command.name.split()
        if list(words[: len(name)]) == name:
            return command
    nouns = sorted({command.noun for command in catalogue})
    noun = words[0]
    if noun not in nouns:
        raise UnusableError(_unknown(noun, words, catalogue))
    verbs = sorted(command.verb for command in catalogue if command.noun == noun)
    if len(words) == 1:
        raise UnusableError(f"`{noun}` needs a verb: {_listed(f'{noun} {verb}' for verb in verbs)}.")
    if close := meant_by(words[1].lower(), verbs):
        meant = next(c for c in catalogue if c.noun == noun and c.verb == close)
        raise UnusableError(
            f"`{noun}` has no verb `{words[1]}`: did you mean `{meant.name}`? Usage: `{meant.usage}`"
        )
    raise UnusableError(
        f"`{noun}` has no verb `{words[1]}`. Available: {_listed(f'{noun} {verb}' for verb in verbs)}."
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
            f"{_upper(explained(error, command, rest))} Usage: `{command.usage}`, for example `{command.example}`"
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
        return f"Unknown command `{noun}`: did you mean `{meant.name}`? Usage: `{meant.usage}`"
    return f"Unknown command `{noun}`. Commands: {_listed(nouns)}. `help` shows more."


def _listed(names: Any) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _upper(message: str) -> str:
    return message[:1].upper() + message[1:] + ("" if message.endswith((".", "?", "!")) else ".")
