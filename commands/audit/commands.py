"""This file has `audit`: who did what, when, and what came of it."""

from dataclasses import dataclass

import click

from alerts.cards.message import Message, Table, bold, text
from commands.core.command import Answer, Command
from commands.core.context import CommandContext

SHOWN = 25
LOOKED_THROUGH = 2_000  # entries, for a person's name


@dataclass(frozen=True, slots=True, kw_only=True)
class ShowAudit:
    by: str
    plan: str
    last: int


async def audit(action: ShowAudit, context: CommandContext) -> Answer:
    """The newest entries first: asked, refused, confirmed, done, failed, cancelled."""
    by = action.by.lstrip("@")
    where = {"plan": action.plan} if action.plan else {}
    only = {"actor": by} if by else {}
    cluster = context.cluster.name
    async with context.store.unit() as unit:
        found = list(await unit.audit.find(cluster=cluster, newest=True, limit=action.last, **where, **only))
        if by and not found:  # a name, not an id
            some = await unit.audit.find(cluster=cluster, newest=True, limit=LOOKED_THROUGH, **where)
            found = [one for one in some if one.actor_name == by][: action.last]
    if not found:
        return Answer(message=Message(title=text("Nothing is recorded that fits.")))
    rows = tuple(
        (f"{one.at:%m-%d %H:%M:%S}", one.actor_name or one.actor, one.what, one.line, one.plan, one.text)
        for one in found
    )
    table = Table(heading=("when (UTC)", "who", "what", "line", "plan", "why"), rows=rows)
    return Answer(message=Message(title=text(bold("Audit, the newest first")), blocks=(table,)))


COMMANDS = (
    Command(
        noun="audit",
        verb="",
        summary="Show who did what, and what came of it.",
        action=ShowAudit,
        parameters=(
            click.Option(["--by"], default="", metavar="PERSON", help="a person or a robot"),
            click.Option(["--plan"], default="", metavar="PLAN"),
            click.Option(["--last"], default=SHOWN, type=click.IntRange(1, 200), metavar="N"),
        ),
        read=audit,
        example="audit --last 10",
    ),
)
