"""Answers to lines that are not run as they are: what was probably meant, as buttons, and what is missing."""

import shlex
from collections.abc import Iterable, Sequence

import click

from alerts.cards.message import (
    Block,
    Button,
    Buttons,
    ButtonStyle,
    Color,
    Context,
    Message,
    Paragraph,
    Preformatted,
)
from alerts.cards.text import markup, text
from alerts.store import StoreError
from collectors.facts.one_line import SENTENCE, one_line
from collectors.facts.sentences import Sentence, as_code, listed, said_by, sentence
from commands.core.cluster_selection import scoped
from commands.core.command import (
    Answer,
    AnyCommand,
    CommandOutcome,
    DeniedError,
    FormRequest,
    UnknownNameError,
)
from commands.core.matching.interpretation import FORM_OPTION, Absent, Fill, Offer, missing_arguments
from commands.core.usage_errors import quote_hint, rejoined

MAX_BUTTON_LINE = 1_500  # characters; a longer line is not suggested as a button


def line_from_words(words: Iterable[str], cluster: str = "") -> str:
    """Return the words as a line that is read as these words again."""
    line = shlex.join(words)
    return scoped(line, cluster) if cluster else line


def offered(typed: str, offer: Offer) -> Answer:
    """Return the lines that may have been meant, each as a button that runs it."""
    lines = [line_from_words(words) for words in offer.lines]
    first = offer.commands[0]
    reason = sentence("Did you mean `{line}`?", line=lines[0])
    blocks: list[Block] = [
        Buttons(buttons=_buttons(lines)),
        Context(
            text=text(sentence("You wrote `{typed}`. Nothing was done.", typed=one_line(typed, SENTENCE)))
        ),
    ]
    if first.changes_something:
        blocks.insert(0, Paragraph(text=text(sentence("Usage: `{usage}`", usage=first.usage))))
    return refused(reason, CommandOutcome.WRONG, blocks=tuple(blocks))


def absent(asked: Absent) -> Answer:
    """Return that no command does what the line asks for, and what comes nearest."""
    buttons = _buttons(line_from_words(words) for words in asked.lines)
    nearest: tuple[Block, ...] = (
        (Context(text=text("What comes nearest:")), Buttons(buttons=buttons))
        if buttons
        else (Context(text=markup(sentence("`help` lists the commands that there are."))),)
    )
    reason = sentence("No command can `{verb}` yet. Nothing was done.", verb=asked.verb)
    return refused(reason, CommandOutcome.WRONG, blocks=nearest)


def not_stored(error: StoreError) -> Answer:
    """Return that a line was not carried out, as the store cannot be used."""
    reason = sentence(
        "Yardmaster could not store this: {reason}. Nothing was done: send it again later.",
        reason=error.reason,
    )
    return refused(reason, CommandOutcome.FAILED)


def form_of(fill: Fill, cluster: str) -> Answer:
    """Return what is missing, and the form to fill it in."""
    command, arguments = fill.command, fill.words[len(fill.command.name.split()) :]
    line = line_from_words([*command.name.split(), FORM_OPTION, *arguments])
    button = Button(label="Fill in the form", line=line, style=ButtonStyle.PRIMARY)
    blocks: tuple[Block, ...] = (
        Preformatted(lines=(command.usage,)),
        Context(text=text(sentence("For example: `{example}`", example=command.example))),
        Buttons(buttons=(button,)),
    )
    title = text(sentence("`{command}` needs more: {missing}", command=command.name, missing=_needed(fill)))
    return Answer(
        message=Message(title=title, color=Color.QUIET, blocks=blocks),
        outcome=CommandOutcome.WRONG,
        form=FormRequest(command=command, words=arguments, cluster=cluster),
    )


def near_names(error: UnknownNameError, command: AnyCommand | None, words: Sequence[str]) -> Answer:
    """Return that the name is unknown, and the line as it was probably meant: with a near name, or with quotes."""
    lines = [
        [near if word == error.name else word for word in words] for near in error.near if near not in words
    ]
    hint = ""
    if command is not None:
        name = command.name.split()
        quoted = rejoined(command, words[len(name) :], error.name)
        lines = [[*name, *quoted]] if quoted else lines
        hint = quote_hint(command, words[len(name) :], error.name)
    buttons = _buttons(line_from_words(line) for line in lines if line != list(words))
    blocks: tuple[Block, ...] = (Buttons(buttons=buttons),) if buttons else ()
    reason = listed((said_by(error), hint), ".") if hint else said_by(error)
    return refused(reason, CommandOutcome.WRONG, blocks=blocks)


def denied(error: DeniedError, words: Sequence[str]) -> Answer:
    """Return why the actor may not run the line, and a button that asks a team to do it."""
    line = line_from_words(["ask", "--", *words])
    blocks: tuple[Block, ...] = ()
    if error.teams and len(line) <= MAX_BUTTON_LINE:
        label = sentence("Ask {teams} to do it", teams=listed(error.teams, "or"))
        blocks = (Buttons(buttons=(Button(label=label, line=line),)),)
    return refused(said_by(error), blocks=blocks)


def refused(
    reason: str, outcome: CommandOutcome = CommandOutcome.REFUSED, *, blocks: tuple[Block, ...] = ()
) -> Answer:
    """Return an answer with the reason why nothing was done."""
    return Answer(message=Message(title=markup(reason), color=Color.QUIET, blocks=blocks), outcome=outcome)


def _buttons(lines: Iterable[str]) -> tuple[Button, ...]:
    """Return a button that runs each of the lines, without those that are too long for one."""
    return tuple(Button(label=line, line=line) for line in lines if len(line) <= MAX_BUTTON_LINE)


def _needed(fill: Fill) -> Sentence:
    names = as_code(
        one.opts[0] if isinstance(one, click.Option) else one.human_readable_name.upper()
        for one in missing_arguments(fill.command, fill.words)
    )
    return names or sentence("see its form")
