"""The commands `breaker list|close`."""

from dataclasses import dataclass, replace

import click

from alerts.cards.message import Color, Message, Table
from alerts.cards.text import bold, text
from alerts.store import StoreSnapshot
from collectors.facts.sentences import counted, moment_words, sentence, word
from commands.core.command import Answer, Command, UnusableError
from commands.core.context import CommandContext
from commands.core.named_rows import named_row
from commands.core.parameter_types import BREAKER
from commands.core.parameters import flag, reason_option
from commands.gates.breaker import Breaker
from commands.gates.remediation import Remediation, RemediationState
from commands.models import AuditEntry

SHOWN = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class ListBreakers:
    all: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class CloseBreaker:
    breaker: str
    reason: str


async def stopped_by(breaker: Breaker, rows: StoreSnapshot) -> list[Remediation]:
    """Return what a breaker stopped, the newest first. It is not done when the breaker is closed."""
    found = await rows.rows(Remediation).find(
        cluster=breaker.cluster, state=RemediationState.STOPPED.value, newest=True, limit=500
    )
    return [one for one in found if one.breaker == breaker.id]


async def listing(action: ListBreakers, context: CommandContext) -> Answer:
    async with context.store.read() as snapshot:
        found = await snapshot.rows(Breaker).find(cluster=context.cluster.name, newest=True, limit=200)
        shown = [one for one in found if action.all or one.state == "open"][:SHOWN]
        stopped = {one.id: await stopped_by(one, snapshot) for one in shown}
    if not shown:
        return Answer(message=Message(title=text("No breaker is open.")))
    rows = tuple(
        (
            one.id,
            one.place,
            word("trial") if one.is_trial else word("live"),
            moment_words(one.opened_at),
            one.reason,
            "; ".join(held.line for held in stopped[one.id]),
            one.closed_because,
        )
        for one in shown
    )
    heading = ("id", "stops", "mode", "open since", "why", "held back", "closed because")
    return Answer(message=Message(title=text(bold("Breakers")), blocks=(Table(heading=heading, rows=rows),)))


async def close(action: CloseBreaker, context: CommandContext) -> Answer:
    async with context.store.unit() as unit:
        breaker = await named_row(
            Breaker,
            action.breaker,
            unit,
            none="There is no breaker `{name}`. `breaker list` shows the open ones.",
        )
        if breaker.state == "closed":
            raise UnusableError(sentence("Breaker `{breaker}` is closed already.", breaker=breaker.id))
        closed = replace(
            breaker,
            closed_at=context.now,
            closed_by=context.actor.person,
            closed_by_name=context.actor.name,
            closed_because=action.reason,
        )
        stopped = await stopped_by(breaker, unit)
        await unit.rows(Breaker).put(closed)
        await unit.rows(AuditEntry).put(
            AuditEntry(
                id=f"{breaker.id}/closed",
                cluster=breaker.cluster,
                at=context.now,
                actor=context.actor.person,
                actor_name=context.actor.name,
                line=context.line,
                what="closed",
                text=action.reason,
            )
        )
    left = counted(
        "Breaker `{breaker}` is closed. What it held back is not done: {count} line.",
        "Breaker `{breaker}` is closed. What it held back is not done: {count} lines.",
        count=len(stopped),
        breaker=breaker.id,
    )
    return Answer(message=Message(title=text(left), color=Color.GOOD))


COMMANDS = (
    Command(
        noun="breaker",
        verb="list",
        summary="Show which breakers stop automation, why, and what they held back.",
        action=ListBreakers,
        parameters=(flag("--all", help="closed ones too"),),
        read=listing,
        example="breaker list",
    ),
    Command(
        noun="breaker",
        verb="close",
        summary="Let automation run again; what the breaker held back is not done.",
        action=CloseBreaker,
        parameters=(
            click.Argument(["breaker"], type=BREAKER),
            reason_option("why it may run again", required=True),
        ),
        record=close,
        table=Breaker,
        example='breaker close b1 --reason "the sensor was replaced"',
    ),
)
