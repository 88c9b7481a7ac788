"""This file has `silence add|list|expire`."""

from dataclasses import dataclass, replace
from datetime import timedelta

import click

from alerts.cards.message import Button, Buttons, Color, Message, Table, bold, code, text
from alerts.matching import Matcher, parse_matchers
from alerts.silences import Silence
from collectors.facts.clock import in_words
from commands.core.command import DURATION, ROW_NAME, Answer, Command, UnusableError
from commands.core.context import CommandContext

LONGEST = timedelta(days=30)


@dataclass(frozen=True, slots=True, kw_only=True)
class AddSilence:
    matchers: tuple[str, ...]
    lasting: timedelta
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ListSilences:
    all: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpireSilence:
    silence: str


async def add(action: AddSilence, context: CommandContext) -> Answer:
    """Silence what matches, at once, and say how many firing alerts that is."""
    matchers = _read(action.matchers)
    if not timedelta() < action.lasting <= LONGEST:
        raise UnusableError(
            f"A silence lasts up to {in_words(LONGEST)}; `--for {action.lasting}` is not in that."
        )
    async with context.store.unit() as unit:
        silence = Silence(
            id=f"s{await unit.next_number('silence')}",
            cluster=context.cluster.name,
            matchers=matchers,
            starts_at=context.now,
            ends_at=context.now + action.lasting,
            by=context.actor.id,
            by_name=context.actor.name,
            comment=action.reason,
        )
        await unit.silences.put(silence)
        firing = await unit.alerts.find(cluster=context.cluster.name, state="firing")
    hidden = [alert for alert in firing if silence.covers(alert.labels, context.now)]
    told = (
        f"{len(hidden)} firing alert{'s' if len(hidden) != 1 else ''}" if hidden else "nothing that fires now"
    )
    undo = Buttons(buttons=(Button(label="Expire it", line=f"silence expire {silence.id}"),))
    title = text(
        "Silence ", code(silence.id), f" hides {told} for {in_words(action.lasting)}: ", _shown(silence)
    )
    return Answer(message=Message(title=title, color=Color.QUIET, blocks=(undo,)))


async def listing(action: ListSilences, context: CommandContext) -> Answer:
    async with context.store.unit() as unit:
        found = await unit.silences.find(cluster=context.cluster.name, newest=True, limit=200)
    shown = [one for one in found if action.all or one.is_active(context.now)][:30]
    if not shown:
        return Answer(message=Message(title=text("No active silences.")))
    rows = tuple(
        (one.id, _shown(one), _left(one, context), one.by_name or one.by, one.comment) for one in shown
    )
    table = Table(heading=("id", "matchers", "left", "by", "reason"), rows=rows)
    return Answer(message=Message(title=text(bold("Silences")), blocks=(table,)))


async def expire(action: ExpireSilence, context: CommandContext) -> Answer:
    async with context.store.unit() as unit:
        silence = await unit.silences.get(action.silence)
        if silence is None:
            raise UnusableError(
                f"There is no silence `{action.silence}`. `silence list` shows the active ones."
            )
        if not silence.is_active(context.now):
            raise UnusableError(f"Silence `{silence.id}` is over already.")
        await unit.silences.put(replace(silence, expired_at=context.now))
    return Answer(message=Message(title=text("Silence ", code(silence.id), " is expired: ", _shown(silence))))


def _read(words: tuple[str, ...]) -> tuple[Matcher, ...]:
    try:
        matchers = tuple(matcher for word in words for matcher in parse_matchers(word))
    except ValueError as error:
        raise UnusableError(str(error)) from error
    if all(matcher.fits({}) for matcher in matchers):
        raise UnusableError("These matchers fit every alert: name at least one label and its value.")
    return matchers


def _shown(silence: Silence) -> str:
    return ", ".join(str(matcher) for matcher in silence.matchers)


def _left(silence: Silence, context: CommandContext) -> str:
    return in_words(silence.ends_at - context.now) if silence.is_active(context.now) else "over"


COMMANDS = (
    Command(
        noun="silence",
        verb="add",
        summary="Keep alerts quiet for a while; they are still seen and kept.",
        action=AddSilence,
        parameters=(
            click.Argument(["matchers"], nargs=-1, required=True),
            click.Option(
                ["--for", "lasting"], type=DURATION, required=True, metavar="DURATION", help="2h, 1d"
            ),
            click.Option(["--reason"], required=True, metavar="TEXT", help="why, for whoever wonders later"),
        ),
        record=add,
        example='silence add alertname=GPUTemperatureHigh node=gpu-a04 --for 2h --reason "fans ordered"',
    ),
    Command(
        noun="silence",
        verb="list",
        summary="List the active silences.",
        action=ListSilences,
        parameters=(click.Option(["--all"], is_flag=True, help="those that are over, too"),),
        read=listing,
        example="silence list",
    ),
    Command(
        noun="silence",
        verb="expire",
        summary="End a silence now.",
        action=ExpireSilence,
        parameters=(click.Argument(["silence"], type=ROW_NAME),),
        record=expire,
        table="silences",
        example="silence expire s3",
    ),
)
