"""The commands `silence add|incident|list|expire`; `making.py` has the first two."""

from dataclasses import dataclass, replace

import click

from alerts.cards.message import Message, Table
from alerts.cards.text import bold, person, text
from alerts.silences import Silence
from collectors.facts.clock import humanize
from collectors.facts.sentences import sentence
from commands.core.command import Answer, Command
from commands.core.context import CommandContext
from commands.core.parameter_types import SILENCE
from commands.core.parameters import flag
from commands.silence import making
from commands.silence.existing import check_expiry, named_silence, shown_matchers


@dataclass(frozen=True, slots=True, kw_only=True)
class ListSilences:
    all: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpireSilence:
    silence: str


async def listing(action: ListSilences, context: CommandContext) -> Answer:
    async with context.store.read() as snapshot:
        found = await snapshot.rows(Silence).find(cluster=context.cluster.name, newest=True, limit=200)
    shown = [one for one in found if action.all or not one.is_over(context.now)][:30]
    if not shown:
        return Answer(message=Message(title=text("No active silences.")))
    rows = tuple(
        (one.id, shown_matchers(one), _left(one, context), person(one.by, one.by_name).text, one.comment)
        for one in shown
    )
    table = Table(heading=("id", "matchers", "left", "by", "reason"), rows=rows)
    return Answer(message=Message(title=text(bold("Silences")), blocks=(table,)))


async def expire(action: ExpireSilence, context: CommandContext) -> Answer:
    async with context.store.unit() as unit:
        silence = await named_silence(action.silence, unit)
        await check_expiry(silence, unit, context)
        await unit.rows(Silence).put(replace(silence, expired_at=context.now))
    return Answer(
        message=Message(
            title=text(
                sentence(
                    "Silence `{silence}` expired: {matchers}",
                    silence=silence.id,
                    matchers=shown_matchers(silence),
                )
            )
        )
    )


def _left(silence: Silence, context: CommandContext) -> str:
    if silence.is_over(context.now):
        return sentence("ended")
    if silence.starts_at > context.now:
        return sentence("begins {at}", at=silence.starts_at)
    return sentence("until it is over") if silence.is_until_over else humanize(silence.ends_at - context.now)


COMMANDS = (
    *making.COMMANDS,
    Command(
        noun="silence",
        verb="list",
        summary="List the silences that are active or begin later.",
        action=ListSilences,
        parameters=(flag("--all", help="also silences that have ended"),),
        read=listing,
        example="silence list",
    ),
    Command(
        noun="silence",
        verb="expire",
        summary="End a silence now.",
        action=ExpireSilence,
        parameters=(click.Argument(["silence"], type=SILENCE),),
        record=expire,
        table=Silence,
        example="silence expire s3",
    ),
)
