"""Existing alerts and silences, which a new silence is compared with."""

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime

from alerts.alert import Alert
from alerts.cards.text import Text, code, text
from alerts.incidents.incident import Incident
from alerts.matching import Matcher, Operator
from alerts.silences import Silence
from alerts.store import Unit
from collectors.facts.sentences import Sentence, listed, said_by, sentence
from commands.core.command import DeniedError, UnknownNameError, UnusableError
from commands.core.context import CommandContext
from commands.core.lookups import known_name
from commands.core.named_incident import check_namespace
from commands.core.named_rows import named_row
from commands.core.own_namespaces import are_within, matcher_of
from commands.core.parent_members import parent_named


async def named_silence(id: str, unit: Unit) -> Silence:
    """Return the silence with this id. Raises UnusableError, with where to look, if there is none."""
    return await named_row(
        Silence, id, unit, none="There is no silence `{name}`. `silence list` shows the active ones."
    )


async def check_names(matchers: tuple[Matcher, ...], unit: Unit, context: CommandContext) -> None:
    """Raise UnusableError for the name of an alert that no rule has and no alert had."""
    names = {rule.name for rule in context.rules.values()}
    if not names:
        return  # the rules are not known
    names |= {alert.name for alert in await unit.rows(Alert).find(cluster=context.cluster.name)}
    for matcher in matchers:
        if matcher.name != "alertname" or matcher.operator not in (Operator.EQUAL, Operator.MATCHES):
            continue
        if matcher.operator is Operator.EQUAL:
            _check_name(matcher.value, names)
        elif not any(matcher.fits({"alertname": name}) for name in names):
            raise UnusableError(sentence("No alert has a name that fits `{matcher}`.", matcher=str(matcher)))


def _check_name(name: str, names: Iterable[str]) -> None:
    try:
        known_name(name, names, "alert")
    except UnknownNameError as error:
        near = tuple(f"alertname={one}" for one in error.near)
        raise UnknownNameError(said_by(error), name=f"alertname={name}", near=near) from error


async def same_silence(
    matchers: tuple[Matcher, ...], incident: str, unit: Unit, context: CommandContext
) -> Silence | None:
    """Return the active silence of exactly the same alerts, if there is one."""
    active = await unit.rows(Silence).find(cluster=context.cluster.name)
    return next(
        (
            one
            for one in active
            if one.is_active(context.now) and one.incident == incident and set(one.matchers) == set(matchers)
        ),
        None,
    )


async def check_expiry(silence: Silence, unit: Unit, context: CommandContext) -> None:
    """Raise UnusableError if the silence is over, and DeniedError unless the actor may end it."""
    if silence.is_over(context.now):
        raise UnusableError(sentence("Silence `{silence}` has already ended.", silence=silence.id))
    if context.actor.is_one(silence.by):
        return
    found = await unit.rows(Incident).get(silence.incident) if silence.incident else None
    incident = found or await parent_named(silence.incident, unit)
    if incident is not None:
        check_namespace("silence expire", incident, context)
    else:
        check_namespaces("silence expire", silence.matchers, context)


def check_namespaces(name: str, matchers: tuple[Matcher, ...], context: CommandContext) -> None:
    """Raise DeniedError if the actor has only some namespaces and the silence is not limited to them."""
    granted = context.granted(name)
    if not are_within(matchers, granted):
        raise DeniedError(
            sentence(
                "You may run `{command}` only for alerts of your team's namespaces: the silence needs "
                "the matcher `{matcher}`, or one for some of them.",
                command=name,
                matcher=matcher_of(granted),
            )
        )


async def extended(silence: Silence, ends_at: datetime, unit: Unit) -> Silence:
    longer = replace(silence, ends_at=max(silence.ends_at, ends_at))
    await unit.rows(Silence).put(longer)
    return longer


def already_text(silence: Silence) -> Text:
    until = (
        sentence("until it is over") if silence.is_until_over else sentence("until {at}", at=silence.ends_at)
    )
    return text(
        sentence(
            "Silence `{silence}` already mutes {muted}: it lasts {until}.",
            silence=silence.id,
            muted=code(silence.incident) if silence.incident else shown_matchers(silence),
            until=until,
        )
    )


def shown_matchers(silence: Silence) -> Sentence:
    if silence.incident:
        return sentence("incident {incident}", incident=silence.incident)
    return listed(str(matcher) for matcher in silence.matchers)
