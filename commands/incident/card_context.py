"""This file gathers from the store what an incident's card and lines show beside the incident itself."""

from collections.abc import Iterable, Mapping
from datetime import datetime

from alerts.cards.incident_context import IncidentAction, IncidentContext
from alerts.incidents.incident import Incident
from alerts.rules import Rule
from alerts.silences import Silence
from alerts.store import ALL
from commands.plans.plan import Plan
from commands.store import Unit


async def incident_context(
    incident: Incident, unit: Unit, *, rules: Mapping[str, Rule], now: datetime
) -> IncidentContext:
    """The deeds that were confirmed for the incident, and until when all of it is silenced."""
    plans = await unit.plans.find(incident=incident.id)
    silences = await unit.silences.find(cluster=incident.cluster, limit=ALL)
    return IncidentContext(
        rules=rules,
        actions=tuple(_action(plan) for plan in plans if plan.confirmed_at is not None),
        silenced_until=await silenced_until(incident, unit, silences, now=now),
    )


async def silenced_until(
    incident: Incident, unit: Unit, silences: Iterable[Silence], *, now: datetime
) -> datetime | None:
    """When the first of its firing alerts is heard again; None when one of them is heard now.

    Once nothing fires, all that did counts.
    """
    active = [silence for silence in silences if silence.is_active(now)]
    until: datetime | None = None
    for member in (incident.firing or incident.members) if active else ():
        alert = await unit.alerts.get(member.alert)
        ends = [one.ends_at for one in active if alert is not None and one.covers(alert.labels, now)]
        if not ends:
            return None
        until = min(until or max(ends), max(ends))
    return until


def _action(plan: Plan) -> IncidentAction:
    state = "undone" if plan.undone_by else plan.state.value
    return IncidentAction(plan=plan.id, line=plan.line, who=plan.actor, who_name=plan.actor_name, state=state)
