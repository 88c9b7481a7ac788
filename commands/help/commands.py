"""This file has `help`: it is read from the catalogue, and shows what this person may do."""

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
    """The help command over these commands and itself."""

    async def look(action: ShowHelp, context: CommandContext) -> Answer:
        if action.words and action.words[0] not in {command.noun for command in others} | {"help"}:
            find(action.words, everything)  # raises with what was meant
        if len(action.words) >= 2 or (action.words and action.words[0] in {c.name for c in others}):
            return one(find(action.words, everything), context)
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
        legend = "✏️ changes something, after a preview · 🔒 not given to you · more: "
        more = text(code("help node"), " or ", code("help node cordon"))
        blocks.append(Context(text=text(legend, more)))
        return Answer(message=Message(title=text(bold("What I can do")), blocks=tuple(blocks)))

    def in_short(command: AnyCommand, context: CommandContext) -> Text:
        return text(code(command.name), f" {_mark(command, context)}", markup(command.summary))

    def one(command: AnyCommand, context: CommandContext) -> Answer:
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
            blocks.append(Context(text=text("🔒 This one is not given to you.")))
        return Answer(message=Message(title=text(bold(command.name)), blocks=tuple(blocks)))

    helping = Command(
        noun="help",
        verb="",
        summary="Show what I can do, or how to do it.",
        action=ShowHelp,
        parameters=(click.Argument(["words"], nargs=-1, metavar="COMMAND"),),
        read=look,
        for_everyone=True,
        example="help node cordon",
    )
    everything: tuple[AnyCommand, ...] = (*others, helping)
    return helping


def _mark(command: AnyCommand, context: CommandContext) -> str:
    if not context.may.get(command.name, False):
        return "🔒 "
    return "✏️ " if command.plan is not None else ""
