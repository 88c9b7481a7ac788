"""The command `help`: the catalogue, as permitted to the sender."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import click

from alerts.cards.message import Block, Button, Buttons, Context, Menu, Message, Paragraph, Preformatted
from alerts.cards.text import Text, bold, code, joined, markup, text
from collectors.facts.sentences import counted, sentence
from commands.core.command import Answer, AnyCommand, Command
from commands.core.context import CommandContext
from commands.core.parent_members import open_ones
from commands.core.parsing import find

# A mark stays on the line of its command.
_LOCKED, _PLANS = "🔒\N{NO-BREAK SPACE}", "✏️\N{NO-BREAK SPACE}"
_NOW = (
    Button(label="Open incidents", line="incident list"),
    Button(label="Nodes", line="node list"),
    Button(label="What is yours", line="home"),
)


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
        return of_noun(action.words[0], context) if action.words else await overview(context)

    async def overview(context: CommandContext) -> Answer:
        """One line per noun, so that all fit on a phone; a menu has more about each."""
        nouns: dict[str, list[AnyCommand]] = {}
        for command in everything:
            nouns.setdefault(command.noun, []).append(command)
        several = {noun: found for noun, found in nouns.items() if len(found) > 1}
        single = [found[0] for found in nouns.values() if len(found) == 1]
        lines = [*(_in_a_line(found, context) for found in several.values()), _names(single, context)]
        more = tuple(Button(label=noun, line=f"help {noun}") for noun in several)
        blocks: list[Block] = [
            Buttons(buttons=await _matter_now(context)),
            Paragraph(text=joined("\n", lines)),
            Buttons(menus=(Menu(label="More about…", options=more), *_fillable(others, context))),
            _legend(everything, context),
        ]
        return Answer(message=Message(title=text(bold("Available commands")), blocks=tuple(blocks)))

    def of_noun(noun: str, context: CommandContext) -> Answer:
        blocks: list[Block] = []
        for command in everything:
            if command.noun == noun:
                blocks += [Paragraph(text=in_short(command, context)), Preformatted(lines=(command.usage,))]
        blocks.append(_legend((one for one in everything if one.noun == noun), context))
        return Answer(message=Message(title=text(bold("Available commands")), blocks=tuple(blocks)))

    def in_short(command: AnyCommand, context: CommandContext) -> Text:
        return text(code(command.name), f" {_mark(command, context)}", markup(command.summary))

    def details(command: AnyCommand, context: CommandContext) -> Answer:
        options = [
            text(code(", ".join(option.opts)), " ", option.help)
            for option in command.parameters
            if isinstance(option, click.Option) and option.help
        ]
        blocks: list[Block] = [Paragraph(text=markup(command.summary)), Preformatted(lines=(command.usage,))]
        if options:
            blocks.append(Paragraph(text=joined("\n", options)))
        blocks.append(Paragraph(text=text(sentence("For example: `{example}`", example=command.example))))
        if command.details:
            blocks.append(Paragraph(text=text(command.details)))
        if command.for_whom:
            blocks.append(Paragraph(text=text(command.for_whom)))
        if context.may.get(command.name, False) and command.parameters:
            line = f"{command.name} --form"
            blocks.append(Buttons(buttons=(Button(label="Fill in the form", line=line),)))
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


def _in_a_line(commands: Sequence[AnyCommand], context: CommandContext) -> Text:
    """The first command in full, and the verbs of the others."""
    first, *others = commands
    return joined(
        ", ", (_name(first, context), *(text(_mark(one, context), code(one.verb)) for one in others))
    )


def _names(commands: Sequence[AnyCommand], context: CommandContext) -> Text:
    return joined(", ", (_name(one, context) for one in commands))


def _name(command: AnyCommand, context: CommandContext) -> Text:
    return text(_mark(command, context), code(command.name))


async def _matter_now(context: CommandContext) -> tuple[Button, ...]:
    """Return the three commands that matter now: about the worst open incident that nobody has, if there is one."""
    async with context.store.read() as snapshot:
        found = await open_ones(context.cluster.name, snapshot)
    if not found:
        return _NOW
    worst = max(found, key=lambda one: (not one.acknowledged_by, one.severity.rank))
    count = counted("{count} open incident", "{count} open incidents", count=len(found))
    buttons = (
        Button(label=count, line="incident list"),
        Button(label=sentence("Show {incident}", incident=worst.id), line=f"incident show {worst.id}"),
    )
    if worst.acknowledged_by or not context.may.get("alert ack", False):
        return (*buttons, Button(label="What is yours", line="home"))
    return (
        *buttons,
        Button(label=sentence("Acknowledge {incident}", incident=worst.id), line=f"alert ack {worst.id}"),
    )


def _fillable(commands: Sequence[AnyCommand], context: CommandContext) -> tuple[Menu, ...]:
    """Return the menu of commands with a form; none in a terminal, which opens no form."""
    if context.origin.via == "terminal":
        return ()
    options = tuple(
        Button(label=one.name, line=f"{one.name} --form")
        for one in commands
        if one.parameters and context.may.get(one.name, False)
    )
    return (Menu(label="Fill in a command…", options=options),) if options else ()


def _legend(commands: Iterable[AnyCommand], context: CommandContext) -> Context:
    """Explain the marks that these commands have."""
    marks = {_mark(one, context) for one in commands}
    parts = [sentence("✏️ changes something, after a preview")] if _PLANS in marks else []
    parts += [sentence("🔒 you may not run this")] if _LOCKED in marks else []
    parts.append(sentence("more: `help node` or `help node cordon`"))
    return Context(text=joined(" · ", (text(one) for one in parts)))


def _mark(command: AnyCommand, context: CommandContext) -> str:
    if not context.may.get(command.name, False):
        return _LOCKED
    return _PLANS if command.plan is not None else ""
