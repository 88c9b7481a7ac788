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
    text,
)
from commands.command import Answer, AnyCommand, Command
from commands.desk import Desk
from commands.parsing import find
from commands.spoken import spoken


@dataclass(frozen=True, slots=True, kw_only=True)
class Help:
    words: tuple[str, ...]


def help_of(others: Sequence[AnyCommand]) -> Command[Help]:
    """The help command over these commands and itself."""

    async def look(deed: Help, desk: Desk) -> Answer:
        if deed.words and deed.words[0] not in {command.noun for command in others} | {"help"}:
            find(deed.words, everything)  # raises with what was meant
        if len(deed.words) >= 2 or (deed.words and deed.words[0] in {c.name for c in others}):
            return one(find(deed.words, everything), desk)
        return overview(deed.words[0] if deed.words else "", desk)

    def overview(noun: str, desk: Desk) -> Answer:
        blocks: list[Block] = []
        for name in dict.fromkeys(command.noun for command in everything):
            if noun and name != noun:
                continue
            rows = [command for command in everything if command.noun == name]
            if noun:
                for command in rows:
                    blocks += [Paragraph(text=in_short(command, desk)), Preformatted(lines=(command.usage,))]
            else:
                blocks.append(Paragraph(text=joined("\n", (in_short(command, desk) for command in rows))))
        legend = "✏️ changes something, after a preview · 🔒 not given to you · more: "
        more = text(code("help node"), " or ", code("help node cordon"))
        blocks.append(Context(text=text(legend, more)))
        return Answer(message=Message(title=text(bold("What I can do")), blocks=tuple(blocks)))

    def in_short(command: AnyCommand, desk: Desk) -> Text:
        return text(code(command.name), f" {_mark(command, desk)}", spoken(command.summary))

    def one(command: AnyCommand, desk: Desk) -> Answer:
        options = [
            text(code(", ".join(option.opts)), f" {option.help}")
            for option in command.parameters
            if isinstance(option, click.Option) and option.help
        ]
        blocks: list[Block] = [Paragraph(text=spoken(command.summary)), Preformatted(lines=(command.usage,))]
        if options:
            blocks.append(Paragraph(text=joined("\n", options)))
        blocks.append(Paragraph(text=text("For example: ", code(command.example))))
        if command.more:
            blocks.append(Paragraph(text=text(command.more)))
        if not desk.may.get(command.name, False):
            blocks.append(Context(text=text("🔒 This one is not given to you.")))
        return Answer(message=Message(title=text(bold(command.name)), blocks=tuple(blocks)))

    helping = Command(
        noun="help",
        verb="",
        summary="Show what I can do, or how to do it.",
        deed=Help,
        parameters=(click.Argument(["words"], nargs=-1, metavar="COMMAND"),),
        look=look,
        is_for_all=True,
        example="help node cordon",
    )
    everything: tuple[AnyCommand, ...] = (*others, helping)
    return helping


def _mark(command: AnyCommand, desk: Desk) -> str:
    if not desk.may.get(command.name, False):
        return "🔒 "
    return "✏️ " if command.plan is not None else ""
