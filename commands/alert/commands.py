"""This file has `alert list|ack|why`."""

from dataclasses import dataclass, replace

import click

from alerts.alert import Alert
from alerts.cards.desired import desired_replies
from alerts.cards.incident_context import NO_CONTEXT
from alerts.cards.message import (
    Block,
    Color,
    Context,
    Fields,
    Message,
    Paragraph,
    Preformatted,
    Table,
    Text,
    bold,
    code,
    moment,
    text,
)
from alerts.cards.posted import CardKind
from alerts.incidents.grouping import acknowledge, place_of, summary_of
from alerts.incidents.incident import Incident
from alerts.store import ALL
from collectors.facts.clock import in_words
from commands.core.command import Answer, Command, UnusableError
from commands.core.context import CommandContext
from commands.store import Unit

SHOWN = 25


@dataclass(frozen=True, slots=True, kw_only=True)
class ListAlerts:
    pending: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertName:
    name: str


async def listing(action: ListAlerts, context: CommandContext) -> Answer:
    """Firing alerts, the worst first; with --pending those that still wait, too."""
    async with context.store.unit() as unit:
        found = list(await unit.alerts.find(cluster=context.cluster.name, state="firing"))
        if action.pending:
            found += await unit.alerts.find(cluster=context.cluster.name, state="pending")
        silences = await unit.silences.find(cluster=context.cluster.name, limit=ALL)
    if not found:
        return Answer(message=Message(title=text("Nothing fires."), color=Color.GOOD))
    found.sort(key=lambda alert: (-alert.severity.rank, alert.life.since))

    def state(alert: Alert) -> str:
        silenced = any(silence.covers(alert.labels, context.now) for silence in silences)
        return "silenced" if silenced else alert.life.state.value

    rows = tuple(
        (
            str(alert.key)[:6],
            alert.severity.value,
            alert.name,
            summary_of(alert),
            _since(alert, context),
            state(alert),
        )
        for alert in found[:SHOWN]
    )
    table = Table(
        heading=("key", "severity", "alert", "what", "for", "state"), rows=rows, more=len(found) - len(rows)
    )
    return Answer(
        message=Message(
            title=text(bold(f"{len(found)} alert{'s' if len(found) != 1 else ''}")), blocks=(table,)
        )
    )


async def ack(action: AlertName, context: CommandContext) -> Answer:
    """Bind whoever writes it to the incident: they see to it."""
    async with context.store.unit() as unit:
        incident = await _incident(action.name, unit, context)
        if not incident.is_open:
            raise UnusableError(f"Incident `{incident.id}` is resolved already.")
        if incident.acknowledged_by == context.actor.id:
            raise UnusableError(f"You have taken incident `{incident.id}` already.")
        taken = acknowledge(incident, who=context.actor.id, who_name=context.actor.name, now=context.now)
        await unit.incidents.put(taken)
        cards = await unit.cards.find(kind=CardKind.INCIDENT.value, row_id=taken.id)
        news = replace(taken, events=taken.events[-1:])
        for line in desired_replies(news, cards, context=NO_CONTEXT):
            await unit.replies.add(line)  # at once, rather than at the next round
    return Answer(
        message=Message(
            title=text("You have taken incident ", code(incident.id), f": {incident.lead.summary}")
        )
    )


async def _incident(name: str, unit: Unit, context: CommandContext) -> Incident:
    """The incident of that id, or the one open incident in which an alert of that name fires."""
    if (found := await unit.incidents.get(name.lower())) is not None:
        return found
    live = await unit.incidents.find(cluster=context.cluster.name, state="open")
    homes = [one for one in live if any(member.name == name for member in one.firing)]
    if len(homes) > 1:
        ids = ", ".join(f"`{one.id}` ({place_of(one.subject)})" for one in homes[:SHOWN])
        raise UnusableError(f"`{name}` fires in several incidents, say which: {ids}.")
    if not homes:
        raise UnusableError(f"There is no open incident `{name}`. `incident list` shows them.")
    return homes[0]


async def reason(action: AlertName, context: CommandContext) -> Answer:
    """Why an alert fires: the rule, its question and patience, the labels, the value, the words that came with it."""
    async with context.store.unit() as unit:
        incident = await unit.incidents.get(action.name.lower())
        alerts = [
            a
            for state in ("firing", "pending")
            for a in await unit.alerts.find(cluster=context.cluster.name, state=state)
        ]
    wanted = {member.alert for member in incident.members} if incident else set()
    found = [
        a for a in alerts if a.id in wanted or str(a.key).startswith(action.name) or a.name == action.name
    ]
    if not found:
        raise UnusableError(
            f"Nothing fires or waits that is called `{action.name}`: give an alert's key or name, or an incident."
        )
    blocks: list[Block] = []
    for alert in found[:3]:
        blocks.extend(_explained(alert, context))
    if len(found) > 3:
        blocks.append(Context(text=text(f"… {len(found) - 3} more; `alert list` shows them all")))
    return Answer(message=Message(title=text(bold(f"Why {action.name} fires")), blocks=tuple(blocks)))


def _explained(alert: Alert, context: CommandContext) -> list[Block]:
    rule = context.rules.get(alert.rule)
    rows: list[tuple[str, Text]] = [("rule", text(code(alert.rule)))]
    if rule is not None:
        rows.append(("at", text(str(rule.location))))
        rows.append(("for", text(in_words(rule.timing.for_) if rule.timing.for_ else "0 s")))
        rows.append(
            (
                "keep firing for",
                text(in_words(rule.timing.keep_firing_for) if rule.timing.keep_firing_for else "0 s"),
            )
        )
    rows.append(("state", text(alert.life.state.value, " since ", moment(alert.life.since))))
    rows.append(("value", text(f"{alert.value:g}")))
    rows.append(("labels", text(code(repr(alert.labels)))))
    rows.append(
        ("about", text(", ".join(f"{word} {value}" for word, value in alert.subject.words().items())))
    )
    blocks: list[Block] = [Paragraph(text=text(bold(summary_of(alert)))), Fields(rows=tuple(rows))]
    if rule is not None:
        blocks.append(Preformatted(lines=tuple(_asked(rule.query))))
    if alert.texts:
        blocks.append(Preformatted(lines=alert.texts[:5]))
    return blocks


def _asked(query: object) -> list[str]:
    return str(getattr(query, "expr", "") or query).strip().splitlines()


def _since(alert: Alert, context: CommandContext) -> str:
    return in_words(context.now - alert.life.since, parts=1)


COMMANDS = (
    Command(
        noun="alert",
        verb="list",
        summary="List what fires, the worst first.",
        action=ListAlerts,
        parameters=(click.Option(["--pending"], is_flag=True, help="those that still wait, too"),),
        read=listing,
        example="alert list",
    ),
    Command(
        noun="alert",
        verb="ack",
        summary="Take an incident: you see to it, and its card says so.",
        action=AlertName,
        parameters=(click.Argument(["name"], metavar="INCIDENT"),),
        record=ack,
        table="incidents",
        example="alert ack i12",
    ),
    Command(
        noun="alert",
        verb="why",
        summary="Say why an alert fires: its rule, question, patience, labels and value.",
        action=AlertName,
        parameters=(click.Argument(["name"], metavar="ALERT"),),
        read=reason,
        table="incidents",
        example="alert why GPUTemperatureHigh",
    ),
)
