"""The command `runbook`: print a shipped page, filled in with the incident in whose thread it is asked for."""

import re
from dataclasses import dataclass

import click

from alerts.cards.message import Button, Buttons, Context, Message, Paragraph
from alerts.cards.suggested_actions import fill, label_of
from alerts.cards.text import bold, code, joined, text
from alerts.incidents.incident import Incident
from alerts.runbooks import runbook_names, runbook_page
from collectors.facts.sentences import sentence
from collectors.facts.subjects import Subject
from commands.core.command import Answer, Command
from commands.core.context import CommandContext
from commands.core.lookups import known_name
from commands.core.parameter_types import RUNBOOK
from commands.runbook.markdown import title_and_blocks

MAX_BUTTONS = 5
_COMMAND = re.compile(r"^/yard (?P<line>.+)$", re.MULTILINE)
_UNFILLED = re.compile(r"\{[a-z_]+\}|…|<")


@dataclass(frozen=True, slots=True, kw_only=True)
class ShowRunbook:
    name: str


async def show(action: ShowRunbook, context: CommandContext) -> Answer:
    """Return the page with its commands as buttons, or without a name the names of all pages."""
    if not action.name:
        return _all()
    name = known_name(action.name.removesuffix(".md"), runbook_names(), "runbook")
    page = _filled(runbook_page(name), await _subject(context)).replace(
        "{incident}", context.origin.incident or "{incident}"
    )
    title, blocks = title_and_blocks(page)
    lines = [line for line in dict.fromkeys(_COMMAND.findall(page)) if not _UNFILLED.search(line)]
    buttons = tuple(Button(label=label_of(line), line=line) for line in lines[:MAX_BUTTONS])
    more = (Buttons(buttons=buttons),) if buttons else ()
    return Answer(message=Message(title=text(bold(title)), blocks=(*blocks, *more), is_document=True))


def _all() -> Answer:
    names = Paragraph(text=joined(" · ", (code(name) for name in runbook_names())))
    hint = Context(text=text(sentence("Print one with `runbook NAME`; a card's menu opens its own.")))
    return Answer(message=Message(title=text(bold("Runbooks")), blocks=(names, hint)))


async def _subject(context: CommandContext) -> Subject:
    """Return the subject of the incident on whose card or in whose thread the page is asked for."""
    if not context.origin.incident:
        return Subject()
    async with context.store.read() as snapshot:
        incident = await snapshot.rows(Incident).get(context.origin.incident)
    return incident.subject if incident else Subject()


def _filled(page: str, subject: Subject) -> str:
    """Return the page with the placeholders that the subject can fill, line by line."""
    return "\n".join(fill(line, subject) or line for line in page.split("\n"))


COMMANDS = (
    Command(
        noun="runbook",
        verb="",
        summary="Print a runbook page: what an alert means, and what to do.",
        action=ShowRunbook,
        parameters=(click.Argument(["name"], type=RUNBOOK, default=""),),
        read=show,
        for_everyone=True,
        example="runbook gpu-idle",
    ),
)
