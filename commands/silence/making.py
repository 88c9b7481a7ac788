"""The commands `silence add|incident`: what mutes alerts, and for how long."""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

import click

from alerts.alert import Alert
from alerts.cards.message import Button, Buttons, Color, Message
from alerts.cards.text import Text, text
from alerts.incidents.incident import Incident
from alerts.matching import Matcher, parse_matchers
from alerts.silences import Silence
from alerts.store import Unit
from collectors.facts.sentences import Argument, counted, said_by, sentence
from commands.core.command import Answer, Command, DeniedError, UnusableError
from commands.core.context import CommandContext
from commands.core.named_incident import check_changeable, incident_named
from commands.core.parameter_types import DURATION, INCIDENT_OR_ITS_ALERT, MATCHERS, SILENCE
from commands.core.parameters import lasting_option, option, reason_option
from commands.core.parent_members import parent_named
from commands.silence.existing import (
    already_text,
    check_expiry,
    check_names,
    check_namespaces,
    extended,
    named_silence,
    same_silence,
    shown_matchers,
)

LONGEST = timedelta(days=30)


@dataclass(frozen=True, slots=True, kw_only=True)
class AddSilence:
    matchers: tuple[str, ...]
    lasting: timedelta
    reason: str
    later: timedelta | None = None
    instead: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SilenceIncident:
    name: str
    lasting: timedelta | None
    reason: str


async def add(action: AddSilence, context: CommandContext) -> Answer:
    """Add a silence, and return how many firing alerts it matches."""
    matchers = _read(action.matchers)
    _check_duration(action.lasting)
    check_namespaces("silence add", matchers, context)
    starts_at = context.now + (action.later or timedelta())
    ends_at = starts_at + action.lasting
    async with context.store.unit() as unit:
        await check_names(matchers, unit, context)
        kept = await _instead(action.instead, matchers, starts_at, unit, context) if action.instead else None
        if kept is not None:
            changed = replace(kept, starts_at=starts_at, ends_at=ends_at, comment=action.reason)
            if kept.is_active(context.now):
                changed = replace(changed, starts_at=kept.starts_at)
            await unit.rows(Silence).put(changed)
            title = sentence(
                "Silence `{silence}` lasts until {at} now: {matchers}",
                silence=changed.id,
                at=changed.ends_at,
                matchers=shown_matchers(changed),
            )
            return _added(changed, text(title))
        if (
            not action.instead
            and not action.later
            and (same := await same_silence(matchers, "", unit, context)) is not None
        ):
            longer = await extended(same, ends_at, unit)
            return _added(longer, already_text(longer))
        silence = Silence(
            id=f"s{await unit.next_number('silence')}",
            cluster=context.cluster.name,
            matchers=matchers,
            starts_at=starts_at,
            ends_at=ends_at,
            by=context.actor.person,
            by_name=context.actor.name,
            comment=action.reason,
        )
        await unit.rows(Silence).put(silence)
        firing = await unit.rows(Alert).find(cluster=context.cluster.name, state="firing")
    hidden = [alert for alert in firing if silence.covers(alert.labels, starts_at)]
    matched = (
        counted("{count} firing alert", "{count} firing alerts", count=len(hidden))
        if hidden
        else sentence("no firing alerts")
    )
    said: dict[str, Argument] = {
        "silence": silence.id,
        "alerts": matched,
        "lasting": action.lasting,
        "matchers": shown_matchers(silence),
    }
    title = (
        sentence(
            "Silence `{silence}` begins {at} and matches {alerts} now, for {lasting}: {matchers}",
            at=starts_at,
            **said,
        )
        if action.later
        else sentence("Silence `{silence}` matches {alerts}, for {lasting}: {matchers}", **said)
    )
    return _added(silence, text(title))


async def _instead(
    id: str, matchers: tuple[Matcher, ...], starts_at: datetime, unit: Unit, context: CommandContext
) -> Silence | None:
    """Return the silence that is changed, if it may stay the one that it is; else expire it, and return None."""
    old = await named_silence(id, unit)
    if (refused := context.refusal("silence expire")) is not None:
        raise DeniedError(refused)
    await check_expiry(old, unit, context)
    is_same = set(old.matchers) == set(matchers) and old.cluster == context.cluster.name
    if is_same and (starts_at <= context.now or not old.is_active(context.now)):
        return old
    await unit.rows(Silence).put(replace(old, expired_at=context.now))
    return None


async def of_incident(action: SilenceIncident, context: CommandContext) -> Answer:
    """Add a silence of all that belongs to an incident, for a while or until it is over.

    One of a parent covers its members, also those that join it later.
    """
    if action.lasting is not None:
        _check_duration(action.lasting)
    async with context.store.unit() as unit:
        parent = await parent_named(action.name, unit)
        incident = parent or await incident_named(action.name, unit, context)
        check_changeable("silence incident", incident, context)
        if (same := await same_silence((), incident.id, unit, context)) is not None:
            is_longer = action.lasting is None and not same.is_until_over
            ends_at = context.now + (action.lasting or LONGEST)
            wider = replace(
                same,
                is_until_over=same.is_until_over or is_longer,
                gravity=max(same.gravity, incident.gravity),
            )
            longer = await extended(wider, ends_at, unit)
            return _added(longer, already_text(longer))
        silence = Silence(
            id=f"s{await unit.next_number('silence')}",
            cluster=incident.cluster,
            matchers=(),
            starts_at=context.now,
            ends_at=context.now + (action.lasting or LONGEST),
            by=context.actor.person,
            by_name=context.actor.name,
            comment=action.reason,
            incident=incident.id,
            gravity=incident.gravity,
            is_until_over=action.lasting is None,
        )
        await unit.rows(Silence).put(silence)
    if action.lasting is None:
        title = sentence(
            "Silence `{silence}` mutes incident `{incident}` until it is over, unless it becomes worse.",
            silence=silence.id,
            incident=incident.id,
        )
    else:
        title = sentence(
            "Silence `{silence}` mutes incident `{incident}` for {lasting}, unless it becomes worse.",
            silence=silence.id,
            incident=incident.id,
            lasting=action.lasting,
        )
    return _added(silence, text(title))


def _added(silence: Silence, title: Text) -> Answer:
    undo = Buttons(buttons=(Button(label="Expire", line=f"silence expire {silence.id}"),))
    return Answer(message=Message(title=title, color=Color.QUIET, blocks=(undo,)))


def _check_duration(lasting: timedelta) -> None:
    if not timedelta() < lasting <= LONGEST:
        raise UnusableError(
            sentence(
                "A silence lasts at most {longest}; `--for {lasting}` is out of range.",
                longest=LONGEST,
                lasting=lasting,
            )
        )


def _read(words: tuple[str, ...]) -> tuple[Matcher, ...]:
    try:
        matchers = tuple(matcher for word in words for matcher in parse_matchers(word))
    except ValueError as error:
        raise UnusableError(said_by(error)) from error
    if all(matcher.fits({}) for matcher in matchers):
        raise UnusableError(
            sentence("These matchers match every alert: give at least one label with a value.")
        )
    return matchers


COMMANDS = (
    Command(
        noun="silence",
        verb="add",
        summary="Mute alerts for a while; they are still evaluated and recorded.",
        action=AddSilence,
        parameters=(
            click.Argument(["matchers"], type=MATCHERS, nargs=-1, required=True),
            lasting_option("how long, such as 2h or 1d", required=True),
            reason_option("why, shown in `silence list`", required=True),
            option("--in", "later", type=DURATION, help="when it begins, if not at once"),
            option("--instead", type=SILENCE, help="the silence that it replaces"),
        ),
        record=add,
        example='silence add alertname=GPUTemperatureHigh node=gpu-a04 --for 2h --reason "fans ordered"',
    ),
    Command(
        noun="silence",
        verb="incident",
        summary="Mute an incident for a while, or until it is over; not when it becomes worse.",
        action=SilenceIncident,
        parameters=(
            click.Argument(["name"], type=INCIDENT_OR_ITS_ALERT, metavar="INCIDENT"),
            lasting_option("1h, 4h; without it until the incident is over"),
            reason_option("shown in `silence list`"),
        ),
        record=of_incident,
        table=Incident,
        example="silence incident i12 --for 4h",
    ),
)
