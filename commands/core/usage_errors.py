"""Errors in the arguments of a line, in our own words, with how to write them."""

import difflib
from collections.abc import Sequence

import click

from collectors.facts.sentences import listed, sentence
from commands.core.command import AnyCommand
from commands.core.parameter_types import parameter_label


def explained(error: click.UsageError, command: AnyCommand, arguments: Sequence[str]) -> str:
    """Return what click found wrong. `arguments` are the words after the command's name."""
    if isinstance(error, click.NoSuchOption):
        possible = sorted(error.possibilities or ())
        best = difflib.get_close_matches(error.option_name, possible, n=1, cutoff=0)
        wrong = sentence(
            "`{command}` has no option `{option}`.", command=command.name, option=error.option_name
        )
        return listed((wrong, sentence("Did you mean `{line}`?", line=best[0])), ".") if best else wrong
    if isinstance(error, click.BadOptionUsage):
        return sentence("`{option}` needs a value.", option=error.option_name)
    if isinstance(error, click.MissingParameter):
        return sentence("`{parameter}` is missing.", parameter=parameter_label(error.param))
    if isinstance(error, click.BadParameter):
        return error.message  # of our own types, which say it whole
    if stray := _stray(command, arguments):
        wrong = sentence("`{word}` is one word too many.", word=stray)
        hint = quote_hint(command, arguments, stray)
        return listed((wrong, hint), ".") if hint else wrong
    return error.format_message()


def quote_hint(command: AnyCommand, arguments: Sequence[str], word: str) -> str:
    """Return the hint that a text of several words needs quotes, if the word follows an option's text; else ''."""
    joined = rejoined(command, arguments, word)
    if not joined:
        return ""
    at = next(number for number, one in enumerate(joined) if " " in one and one not in arguments)
    return sentence(
        'A text of several words needs quotes: `{option} "{text}"`.',
        option=joined[at - 1],
        text=joined[at],
    )


def rejoined(command: AnyCommand, arguments: Sequence[str], word: str) -> list[str]:
    """Return the arguments with the words after an option's text as one, up to the next option; [] if it has none."""
    texts = {
        flag
        for option in command.parameters
        if isinstance(option, click.Option) and not option.is_flag and option.metavar == "TEXT"
        for flag in option.opts
    }
    if word not in arguments:
        return []
    place = arguments.index(word)
    begin = next((at for at in range(place - 1, -1, -1) if arguments[at].startswith("--")), None)
    if begin is None or arguments[begin] not in texts or place - begin < 2:
        return []
    end = next((at for at in range(place, len(arguments)) if arguments[at].startswith("-")), len(arguments))
    return [*arguments[: begin + 1], " ".join(arguments[begin + 1 : end]), *arguments[end:]]


def _stray(command: AnyCommand, arguments: Sequence[str]) -> str:
    """Return the first word that no parameter takes."""
    room = sum(1 for one in command.parameters if isinstance(one, click.Argument))
    options = [one for one in command.parameters if isinstance(one, click.Option)]
    takes_value = {flag for one in options if not one.is_flag for flag in one.opts}
    taken = 0
    for at, word in enumerate(arguments):
        if word.startswith("-") or (at and arguments[at - 1] in takes_value):
            continue
        taken += 1
        if taken > room:
            return word
    return ""
