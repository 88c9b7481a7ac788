"""The commands `alert list|why`, beside those of `acknowledging.py`."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

import click

from alerts.alert import Alert
from alerts.cards.message import (
    Block,
    Button,
    Buttons,
    Color,
    Context,
    Fields,
    Message,
    Paragraph,
    Preformatted,
    Table,
)
from alerts.cards.parent_words import place_shown
from alerts.cards.text import Text, bold, code, link, markup, text
from alerts.incidents.incident import Incident
from alerts.incidents.member_rows import whole_ones
from alerts.incidents.members import summary_of
from alerts.parents.parent_incident import ParentIncident
from alerts.rules import Timing
from alerts.silences import Silence
from collectors.facts.clock import humanize
from collectors.facts.queries import PromQLQuery, Query
from collectors.facts.sentences import Sentence, counted, listed, sentence, word
from commands.alert.acknowledging import COMMANDS as ACKNOWLEDGING
from commands.alert.alert_groups import AlertGroup, grouped
from commands.alert.alert_notifications import notifications
from commands.alert.query_text import query_lines
from commands.core.blindness import nothing_seen
from commands.core.command import EVERY_SOURCE, Answer, Command, UnusableError
from commands.core.context import CommandContext
from commands.core.parameter_types import ALERT_OR_INCIDENT
from commands.core.parameters import flag
from commands.core.parent_members import all_in_one, members_of, open_parents, parent_named

SHOWN = 25
EXPLAINED = 3  # alerts of one answer
NAMED = 8  # of the others
_LACKS = re.compile(r"\b(unless|absent|absent_over_time)\b")


@dataclass(frozen=True, slots=True, kw_only=True)
class ListAlerts:
    pending: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertName:
    name: str


async def listing(action: ListAlerts, context: CommandContext) -> Answer:
    """Return the firing alerts by rule and place, most severe first; with `--pending` the pending ones too."""
    async with context.store.read() as snapshot:
        found = list(await snapshot.rows(Alert).find(cluster=context.cluster.name, state="firing"))
        if action.pending:
            found += await snapshot.rows(Alert).find(cluster=context.cluster.name, state="pending")
        silences = await snapshot.rows(Silence).find(cluster=context.cluster.name)
        stored = await snapshot.rows(Incident).find(cluster=context.cluster.name, state="open")
        parents = {one.id: one for one in await open_parents(context.cluster.name, snapshot)}
        incidents = await whole_ones(
            [one for one in stored if _marks_alerts(one, silences, context)], snapshot
        )
    if not found:
        return Answer(message=nothing_seen("No firing alerts", context))
    silenced = [
        alert.id for alert in found if any(silence.covers(alert.labels, context.now) for silence in silences)
    ]
    muted = [
        one for one in incidents if any(silence.covers_incident(one, context.now) for silence in silences)
    ]
    silenced += [member.alert for one in muted for member in one.members]
    worse = {member.alert: member for one in incidents for member in one.members if member.is_worse}
    places = {
        member.alert: _place(parents[one.parent])
        for one in stored
        if one.parent in parents
        for member in one.members
    }
    groups = grouped(found, silenced, worse, places)
    table = Table(
        heading=("alert", "for", "state"),
        rows=tuple(_row(group, context) for group in groups[:SHOWN]),
        more=max(0, len(groups) - SHOWN),
    )
    title = counted("{count} alert", "{count} alerts", count=len(found))
    hint = Context(text=text(sentence("More about one: `alert why {alert}`", alert=groups[0].oldest.name)))
    return Answer(message=Message(title=text(bold(title)), blocks=(table, hint)))


def _place(parent: ParentIncident) -> str:
    """Return the place of alerts that are a part of it: what its nodes have in common."""
    return sentence("{place} (`{incident}`)", place=place_shown(parent), incident=parent.id)


def _row(group: AlertGroup, context: CommandContext) -> tuple[str, ...]:
    state = sentence("silenced") if group.is_silenced else word(group.oldest.life.state.value)
    return (group.text, _since(group.oldest, context), listed((word(group.severity.value), state)))


def _marks_alerts(incident: Incident, silences: Iterable[Silence], context: CommandContext) -> bool:
    """Return whether the list says something of its alerts that the alerts themselves do not have."""
    is_muted = any(silence.covers_incident(incident, context.now) for silence in silences)
    return is_muted or any(member.is_worse for member in incident.members)


async def reason(action: AlertName, context: CommandContext) -> Answer:
    """Explain why an alert fires: its rule, query, timing, labels, value and texts."""
    async with context.store.read() as snapshot:
        named = await snapshot.rows(Incident).get(action.name.lower())
        incident = (await whole_ones([named], snapshot))[0] if named is not None else None
        if (parent := await parent_named(action.name, snapshot)) is not None:
            incident = all_in_one(parent, await members_of(parent, snapshot))
        alerts = [
            a
            for state in ("firing", "pending")
            for a in await snapshot.rows(Alert).find(cluster=context.cluster.name, state=state)
        ]
        wanted = {member.alert for member in incident.members} if incident else set()
        found = [
            a for a in alerts if a.id in wanted or str(a.key).startswith(action.name) or a.name == action.name
        ]
        notified = await notifications(found[:EXPLAINED], alerts, snapshot, context)
    if not found and incident is not None and not incident.is_open:
        return _resolved(incident)
    if not found:
        raise UnusableError(
            sentence(
                "No alert or incident `{name}` is firing or pending: give an alert's key or name, "
                "or an incident.",
                name=action.name,
            )
        )
    blocks: list[Block] = []
    for alert in found[:EXPLAINED]:
        blocks.extend(_explained(alert, notified[alert.id], context))
    if rest := found[EXPLAINED:]:
        blocks.append(
            Context(
                text=text(
                    sentence(
                        "And {alerts}. `alert why KEY` explains one of them.",
                        alerts=listed(
                            (sentence("{alert} (`{key}`)", alert=one.name, key=str(one.key)) for one in rest),
                            "and",
                            most=NAMED,
                        ),
                    )
                )
            )
        )
    return Answer(
        message=Message(
            title=text(bold(sentence("Why {alert} fires", alert=action.name))), blocks=tuple(blocks)
        )
    )


def _resolved(incident: Incident) -> Answer:
    """Return that the incident is over, so that nothing fires, and a button that shows what it was."""
    assert incident.resolved_at is not None
    title = markup(
        sentence(
            "Incident `{incident}` was resolved {at}.",
            incident=incident.id,
            at=incident.resolved_at,
        )
    )
    show = Button(label="Show the incident", line=f"incident show {incident.id}")
    return Answer(message=Message(title=title, color=Color.GOOD, blocks=(Buttons(buttons=(show,)),)))


def _explained(alert: Alert, notified: Iterable[Sentence], context: CommandContext) -> list[Block]:
    """Return what holds and who is notified, then how it is found, and at the end where that is written."""
    rule = context.rules.get(alert.rule)
    since = sentence("{state} since {at}", state=word(alert.life.state.value), at=alert.life.since)
    kinds = (
        sentence("{kind} {name}", kind=word(kind), name=name) for kind, name in alert.subject.words().items()
    )
    rows: list[tuple[str, Text]] = [("state", text(since)), ("about", text(listed(kinds)))]
    if rule is not None:
        if not _is_about_what_lacks(rule.query):
            rows.append(("value", text(f"{alert.value:g}")))
        if waits := _timing(rule.timing):
            rows.append(("timing", text(waits)))
    rows.extend(("notifies", text(one)) for one in notified)
    if alert.generator_url:
        rows.append(("seen in", text(link(alert.generator_url, alert.generator_url))))
    blocks: list[Block] = [Paragraph(text=text(bold(summary_of(alert)))), Fields(rows=tuple(rows))]
    if rule is not None:
        blocks.append(Preformatted(lines=query_lines(rule.query)))
    if alert.texts:
        blocks.append(Preformatted(lines=alert.texts[:5]))
    where = text(" · ", str(rule.location)) if rule is not None else ()
    blocks.append(Context(text=text(code(alert.rule), where, " · ", code(str(alert.labels)))))
    return blocks


def _is_about_what_lacks(query: Query) -> bool:
    """Whether an alert's value is that of a series that is gone, which says nothing."""
    return isinstance(query, PromQLQuery) and bool(_LACKS.search(query.expr))


def _timing(timing: Timing) -> str:
    """Return how long what is found must last, and how long its alert stays afterwards; empty if neither."""
    said = []
    if timing.for_:
        said.append(sentence("fires once it has lasted {lasting}", lasting=timing.for_))
    if timing.keep_firing_for:
        said.append(sentence("resolves {lasting} after it has ended", lasting=timing.keep_firing_for))
    return listed(said, ";")


def _since(alert: Alert, context: CommandContext) -> str:
    return humanize(context.now - alert.life.since, parts=1)


COMMANDS = (
    Command(
        noun="alert",
        verb="list",
        summary="List firing alerts by rule and place, most severe first.",
        action=ListAlerts,
        parameters=(flag("--pending", help="include pending alerts"),),
        read=listing,
        shows=EVERY_SOURCE,
        shows_received=True,
        example="alert list",
    ),
    *ACKNOWLEDGING,
    Command(
        noun="alert",
        verb="why",
        summary="Explain why an alert fires: its rule, query, timing, labels and value.",
        action=AlertName,
        parameters=(click.Argument(["name"], type=ALERT_OR_INCIDENT, metavar="ALERT"),),
        read=reason,
        shows_received=True,
        table=Incident,
        example="alert why GPUTemperatureHigh",
    ),
)
