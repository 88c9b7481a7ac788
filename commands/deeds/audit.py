"""This file has `audit`: who did what, when, and what came of it."""

from dataclasses import dataclass

import click

from alerts.telling.views import Table, View, bold, text
from commands.command import Answer, Command
from commands.desk import Desk

SHOWN = 25


@dataclass(frozen=True, slots=True, kw_only=True)
class Audit:
    by: str
    plan: str
    last: int


async def audit(deed: Audit, desk: Desk) -> Answer:
    """The newest entries first: asked, refused, confirmed, done, failed, cancelled."""
    where = {"actor": deed.by.lstrip("@")} if deed.by else {}
    where |= {"plan": deed.plan} if deed.plan else {}
    async with desk.store.unit() as unit:
        found = await unit.audit.find(cluster=desk.site.name, newest=True, limit=min(deed.last, 200), **where)
    if not found:
        return Answer(view=View(title=text("Nothing is recorded that fits.")))
    rows = tuple(
        (f"{one.at:%m-%d %H:%M:%S}", one.actor_name or one.actor, one.what, one.line, one.plan, one.text)
        for one in found
    )
    table = Table(heading=("when (UTC)", "who", "what", "line", "plan", "why"), rows=rows)
    return Answer(view=View(title=text(bold("Audit, the newest first")), blocks=(table,)))


COMMANDS = (
    Command(
        noun="audit",
        verb="",
        summary="Show who did what, and what came of it.",
        deed=Audit,
        parameters=(
            click.Option(["--by"], default="", metavar="PERSON", help="a person's id or a robot's name"),
            click.Option(["--plan"], default="", metavar="PLAN"),
            click.Option(["--last"], default=SHOWN, type=click.IntRange(1, 200), metavar="N"),
        ),
        look=audit,
        example="audit --last 10",
    ),
)
