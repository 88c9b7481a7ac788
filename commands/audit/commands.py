"""The command `audit`: who did what, when, and how it ended."""

from dataclasses import dataclass
from typing import Any

import click

from alerts.cards.message import Message, Table
from alerts.cards.text import bold, person, text
from collectors.facts.sentences import moment_words, sentence
from commands.core.command import Answer, Command
from commands.core.context import CommandContext
from commands.core.parameter_types import PLAN, ExplainedOption, WholeNumberType
from commands.models import AuditEntry

SHOWN = 25
LOOKED_THROUGH = 2_000  # entries to search for a person's name


@dataclass(frozen=True, slots=True, kw_only=True)
class ShowAudit:
    by: str
    plan: str
    last: int


async def audit(action: ShowAudit, context: CommandContext) -> Answer:
    """Return the newest entries first: asked, refused, confirmed, done, failed, cancelled."""
    by = action.by.lstrip("@")
    where = {"plan": action.plan} if action.plan else {}
    only: dict[str, Any] = (
        {"actor": tuple(context.persons.ids_of(context.persons.person_of(by)))} if by else {}
    )
    cluster = context.cluster.name
    async with context.store.read() as snapshot:
        found = list(
            await snapshot.rows(AuditEntry).find(
                cluster=cluster, newest=True, limit=action.last, **where, **only
            )
        )
        if by and not found:  # a name, not an id
            some = await snapshot.rows(AuditEntry).find(
                cluster=cluster, newest=True, limit=LOOKED_THROUGH, **where
            )
            found = [one for one in some if one.actor_name == by][: action.last]
    if not found:
        return Answer(message=Message(title=text("No matching entries.")))
    rows = tuple(
        (moment_words(one.at), person(one.actor, one.actor_name).text, one.what, one.line, one.plan, one.text)
        for one in found
    )
    table = Table(heading=("when", "who", "what", "line", "plan", "reason"), rows=rows)
    return Answer(message=Message(title=text(bold("Audit log, newest first")), blocks=(table,)))


COMMANDS = (
    Command(
        noun="audit",
        verb="",
        summary="Show who did what, and how it ended.",
        action=ShowAudit,
        parameters=(
            click.Option(
                ["--by"], default="", metavar="PERSON", help="only entries of this person or automation"
            ),
            click.Option(["--plan"], type=PLAN, default="", metavar="PLAN", help="only entries of this plan"),
            ExplainedOption(
                ["--last"],
                default=SHOWN,
                type=WholeNumberType(least=1, most=200),
                metavar="N",
                help=sentence("how many of the latest entries; default: {number}", number=SHOWN),
            ),
        ),
        read=audit,
        example="audit --last 10",
    ),
)
