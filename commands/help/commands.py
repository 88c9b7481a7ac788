"""The command `help`: the catalogue, as permitted to the sender."""

from collections.abc import Sequence
from dataclasses import dataclass

import click

from alerts.cards.message import (
    Block,
    Button,
    Buttons,
    Context,
    Menu,
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
from alerts.incidents.incident import Incident
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
        return group(action.words[0], context) if action.words else await overview(context)

    async def overview(context: CommandContext) -> Answer:
        title = text(bold("Available commands"))
        if context.origin.via == "terminal":  # it opens no menus
            lines = tuple(Paragraph(text=in_short(one, context)) for one in everything)
            return Answer(message=Message(title=title, blocks=lines))
        groups: list[Text] = []
        for noun in dict.fromkeys(command.noun for command in everything):
            names = [_verb(command, context) for command in everything if command.noun == noun]
            groups.append(text(code(noun), " ", ", ".join(name for name in names if name)))
        fillable = [one for one in others if one.parameters and context.may.get(one.name, False)]
        menus = (
            Menu(
                label="Fill in a command",
                options=tuple(_button(one.name, f"{one.name} --form") for one in fillable),
            ),
            Menu(
                label="Explain a command",
                options=tuple(_button(one.name, f"help {one.name}") for one in others),
            ),
        )
        legend = "✏️ after a preview · 🔒 not for your team · write as you speak: "
        blocks: tuple[Block, ...] = (
            Buttons(buttons=await first_buttons(context)),
            Paragraph(text=joined("\n", groups)),
            Buttons(menus=tuple(menu for menu in menus if menu.options)),
            Context(
                text=text(legend, code("cordon gpu-a04"), ", ", code("idle gpus"), ", ", code("logs detr"))
            ),
        )
        return Answer(message=Message(title=title, blocks=blocks))

    def group(noun: str, context: CommandContext) -> Answer:
        rows = [command for command in everything if command.noun == noun]
        shown = [(Paragraph(text=in_short(one, context)), Preformatted(lines=(one.usage,))) for one in rows]
        blocks = tuple(block for pair in shown for block in pair)
        return Answer(message=Message(title=text(bold(noun)), blocks=blocks))

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
        if context.may.get(command.name, False) and command.parameters:
            blocks.append(Buttons(buttons=(_button("Fill in the form", f"{command.name} --form"),)))
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


async def first_buttons(context: CommandContext) -> tuple[Button, ...]:
    """Return the three commands that matter now: about the worst open incident, if there is one."""
    async with context.store.read() as snapshot:
        found = await snapshot.rows(Incident).find(cluster=context.cluster.name, state="open")
    if not found:
        return (
            _button("Incidents", "incident list"),
            _button("Nodes", "node list"),
            _button("Idle GPUs", "gpu idle"),
        )
    worst = max(found, key=lambda one: (not one.acknowledged_by, one.severity.rank))
    count = f"{len(found)} open incidents" if len(found) > 1 else "1 open incident"
    buttons = [_button(count, "incident list"), _button(f"Show {worst.id}", f"incident show {worst.id}")]
    if worst.acknowledged_by or not context.may.get("alert ack", False):
        return (*buttons, _button(f"Why {worst.id}?", f"alert why {worst.id}"))
    return (*buttons, _button(f"Acknowledge {worst.id}", f"alert ack {worst.id}"))


def _button(label: str, line: str) -> Button:
    return Button(label=label, line=line)


def _verb(command: AnyCommand, context: CommandContext) -> str:
    return f"{_mark(command, context)}{command.verb}" if command.verb else ""


def _mark(command: AnyCommand, context: CommandContext) -> str:
    if not context.may.get(command.name, False):
        return "🔒 "
    return "✏️ " if command.plan is not None else ""
