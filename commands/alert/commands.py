"""The commands `alert list|ack|why`."""

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
from alerts.cards.posted import CardKind, PostedCard, ThreadReply
from alerts.incidents.grouping import acknowledge, place_of, summary_of
from alerts.incidents.incident import Incident
from alerts.silences import Silence
from alerts.store import Unit
from collectors.facts.clock import humanize
from commands.core.command import Answer, Command, DeniedError, UnusableError
from commands.core.context import CommandContext
from commands.core.own_namespaces import has_all
from commands.core.parameter_types import ALERT_OR_INCIDENT

SHOWN = 25


@dataclass(frozen=True, slots=True, kw_only=True)
class ListAlerts:
    pending: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertName:
    name: str


async def listing(action: ListAlerts, context: CommandContext) -> Answer:
    """Return the firing alerts, most severe first; with `--pending` the pending ones too."""
    async with context.store.read() as snapshot:
        found = list(await snapshot.rows(Alert).find(cluster=context.cluster.name, state="firing"))
        if action.pending:
            found += await snapshot.rows(Alert).find(cluster=context.cluster.name, state="pending")
        silences = await snapshot.rows(Silence).find(cluster=context.cluster.name)
    if not found:
        return Answer(message=Message(title=text("No firing alerts."), color=Color.GOOD))
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
        heading=("key", "severity", "alert", "summary", "for", "state"),
        rows=rows,
        more=len(found) - len(rows),
    )
    return Answer(
        message=Message(
            title=text(bold(f"{len(found)} alert{'s' if len(found) != 1 else ''}")), blocks=(table,)
        )
    )


async def ack(action: AlertName, context: CommandContext) -> Answer:
    """Record that the sender works on the incident."""
    async with context.store.unit() as unit:
        incident = await _incident(action.name, unit, context)
        _check_namespace(incident, context)
        if not incident.is_open:
            raise UnusableError(f"Incident `{incident.id}` is already resolved.")
        if incident.acknowledged_by == context.actor.id:
            raise UnusableError(f"You already acknowledged incident `{incident.id}`.")
        acked = acknowledge(incident, who=context.actor.id, who_name=context.actor.name, now=context.now)
        await unit.rows(Incident).put(acked)
        cards = await unit.rows(PostedCard).find(kind=CardKind.INCIDENT.value, row_id=acked.id)
        latest = replace(acked, events=acked.events[-1:])
        for reply in desired_replies(latest, cards, context=NO_CONTEXT):
            await unit.rows(ThreadReply).add(reply)  # now, not in the next evaluation cycle
    return Answer(
        message=Message(
            title=text("You acknowledged incident ", code(incident.id), f": {incident.lead.summary}")
        )
    )


def _check_namespace(incident: Incident, context: CommandContext) -> None:
    """Raise DeniedError if the incident is outside the actor's namespaces; what is in none needs all of them."""
    subject = incident.subject
    namespace = subject.namespace or subject.training.partition("/")[0]
    if namespace:
        if (denied := context.refusal("alert ack", namespace)) is not None:
            raise DeniedError(denied)
    elif not has_all(context.granted("alert ack")):
        raise DeniedError(
            f"Incident `{incident.id}` concerns {place_of(subject) or 'the cluster'}, and your team may acknowledge "
            "incidents of its namespaces only."
        )


async def _incident(name: str, unit: Unit, context: CommandContext) -> Incident:
    """Return the incident with that id, or the only open incident in which an alert of that name fires."""
    if (found := await unit.rows(Incident).get(name.lower())) is not None:
        return found
    live = await unit.rows(Incident).find(cluster=context.cluster.name, state="open")
    matches = [one for one in live if any(member.name == name for member in one.firing)]
    if len(matches) > 1:
        ids = ", ".join(f"`{one.id}` ({place_of(one.subject)})" for one in matches[:SHOWN])
        raise UnusableError(f"`{name}` fires in several incidents, choose one: {ids}.")
    if not matches:
        raise UnusableError(f"There is no open incident `{name}`. `incident list` shows the open ones.")
    return matches[0]


async def reason(action: AlertName, context: CommandContext) -> Answer:
    """Explain why an alert fires: its rule, query, timing, labels, value and texts."""
    async with context.store.read() as snapshot:
        incident = await snapshot.rows(Incident).get(action.name.lower())
        alerts = [
            a
            for state in ("firing", "pending")
            for a in await snapshot.rows(Alert).find(cluster=context.cluster.name, state=state)
        ]
    wanted = {member.alert for member in incident.members} if incident else set()
    found = [
        a for a in alerts if a.id in wanted or str(a.key).startswith(action.name) or a.name == action.name
    ]
    if not found:
        raise UnusableError(
            f"No alert or incident `{action.name}` is firing or pending: give an alert's key or name, or an incident."
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
        rows.append(("defined in", text(str(rule.location))))
        rows.append(("for", text(humanize(rule.timing.for_) if rule.timing.for_ else "0 s")))
        rows.append(
            (
                "keep firing for",
                text(humanize(rule.timing.keep_firing_for) if rule.timing.keep_firing_for else "0 s"),
            )
        )
    rows.append(("state", text(alert.life.state.value, " since ", moment(alert.life.since))))
    rows.append(("value", text(f"{alert.value:g}")))
    rows.append(("labels", text(code(repr(alert.labels)))))
    rows.append(
        ("subject", text(", ".join(f"{word} {value}" for word, value in alert.subject.words().items())))
    )
    blocks: list[Block] = [Paragraph(text=text(bold(summary_of(alert)))), Fields(rows=tuple(rows))]
    if rule is not None:
        blocks.append(Preformatted(lines=tuple(_expression_lines(rule.query))))
    if alert.texts:
        blocks.append(Preformatted(lines=alert.texts[:5]))
    return blocks


def _expression_lines(query: object) -> list[str]:
    return str(getattr(query, "expr", "") or query).strip().splitlines()


def _since(alert: Alert, context: CommandContext) -> str:
    return humanize(context.now - alert.life.since, parts=1)


COMMANDS = (
    Command(
        noun="alert",
        verb="list",
        summary="List firing alerts, most severe first.",
        action=ListAlerts,
        parameters=(click.Option(["--pending"], is_flag=True, help="also alerts that are pending"),),
        read=listing,
        example="alert list",
    ),
    Command(
        noun="alert",
        verb="ack",
        summary="Acknowledge an incident; its card then shows your name.",
        action=AlertName,
        parameters=(click.Argument(["name"], type=ALERT_OR_INCIDENT, metavar="INCIDENT"),),
        record=ack,
        table=Incident,
        example="alert ack i12",
    ),
    Command(
        noun="alert",
        verb="why",
        summary="Explain why an alert fires: its rule, query, timing, labels and value.",
        action=AlertName,
        parameters=(click.Argument(["name"], type=ALERT_OR_INCIDENT, metavar="ALERT"),),
        read=reason,
        table=Incident,
        example="alert why GPUTemperatureHigh",
    ),
)
