"""The command `help`: the catalogue, as permitted to the sender."""

from collections.abc import Sequence
from dataclasses import dataclass

import click

from alerts.cards.message import (
    Block,
    Context,
    Message,
    Paragraph,
    Preformatted,
    Text,
    bold,
    code,
    joined,
    markup,
    text,
)
from commands.core.command import Answer, AnyCommand, Command
from commands.core.context import CommandContext
from commands.core.parsing import find


@dataclass(frozen=True, slots=True, kw_only=True)
class ShowHelp:
    words: tuple[str, ...]


def help_command(others: Sequence[AnyCommand]) -> Command[ShowHelp]:
    """Return the help command for these commands and itself."""

    async def show(action: ShowHelp, context: CommandContext) -> Answer:
        if action.words and action.words[0] not in {command.noun for command in others} | {"help"}:
            find(action.words, everything)  # raises UnusableError with suggestions
        if len(action.words) >= 2 or (action.words and action.words[0] in {c.name for c in others}):
            return details(find(action.words, everything), context)
        return overview(action.words[0] if action.words else "", context)

    def overview(noun: str, context: CommandContext) -> Answer:
        blocks: list[Block] = []
        for name in dict.fromkeys(command.noun for command in everything):
            if noun and name != noun:
                continue
            rows = [command for command in everything if command.noun == name]
            if noun:
                for command in rows:
                    blocks += [
                        Paragraph(text=in_short(command, context)),
                        Preformatted(lines=(command.usage,)),
                    ]
            else:
                blocks.append(Paragraph(text=joined("\n", (in_short(command, context) for command in rows))))
        legend = "✏️ changes something, after a preview · 🔒 not allowed for you · more: "
        more = text(code("help node"), " or ", code("help node cordon"))
        blocks.append(Context(text=text(legend, more)))
        return Answer(message=Message(title=text(bold("Available commands")), blocks=tuple(blocks)))

    def in_short(command: AnyCommand, context: CommandContext) -> Text:
        return text(code(command.name), f" {_mark(command, context)}", markup(command.summary))

    def details(command: AnyCommand, context: CommandContext) -> Answer:
        options = [
            text(code(", ".join(option.opts)), f" {option.help}")
            for option in command.parameters
            if isinstance(option, click.Option) and option.help
        ]
        blocks: list[Block] = [Paragraph(text=markup(command.summary)), Preformatted(lines=(command.usage,))]
        if options:
            blocks.append(Paragraph(text=joined("\n", options)))
        blocks.append(Paragraph(text=text("For example: ", code(command.example))))
        if command.details:
            blocks.append(Paragraph(text=text(command.details)))
        if not context.may.get(command.name, False):
            blocks.append(Context(text=text("🔒 You are not allowed to run this command.")))
        return Answer(message=Message(title=text(bold(command.name)), blocks=tuple(blocks)))

    itself = Command(
        noun="help",
        verb="",
        summary="List commands, or show how to use one.",
        action=ShowHelp,
        parameters=(click.Argument(["words"], nargs=-1, metavar="COMMAND"),),
        read=show,
        for_everyone=True,
        example="help node cordon",
    )
    everything: tuple[AnyCommand, ...] = (*others, itself)
    return itself


def _mark(command: AnyCommand, context: CommandContext) -> str:
    if not context.may.get(command.name, False):
        return "🔒 "
    return "✏️ " if command.plan is not None else ""
