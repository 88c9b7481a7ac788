"""The context of an incident's card and thread replies, read from the store."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from datetime import datetime

from alerts.alert import Alert
from alerts.cards.incident_context import IncidentAction, IncidentContext
from alerts.incidents.incident import Incident
from alerts.rules import Rule
from alerts.silences import Silence
from alerts.store import StoreSnapshot
from commands.plans.plan import Plan, PlanState, StepRecord, StepState


async def incident_context(
    incident: Incident, snapshot: StoreSnapshot, *, rules: Mapping[str, Rule], now: datetime
) -> IncidentContext:
    """Return the confirmed plans for the incident, and until when all of it is silenced."""
    plans = await snapshot.rows(Plan).find(incident=incident.id)
    silences = active(await snapshot.rows(Silence).find(cluster=incident.cluster), now)
    alerts = (
        await snapshot.rows(Alert).get_all(member.alert for member in incident.members) if silences else {}
    )
    context = await context_of(plans, snapshot, rules=rules)
    return replace(
        context,
        silenced_until=silenced_until(incident, alerts, silences, now=now),
        is_silenced_until_over=any(
            one.is_until_over and one.covers_incident(incident.id, now) for one in silences
        ),
    )


async def context_of(
    plans: Iterable[Plan], snapshot: StoreSnapshot, *, rules: Mapping[str, Rule]
) -> IncidentContext:
    """Return the context of an incident that is not silenced, with its confirmed plans."""
    confirmed = [plan for plan in plans if plan.confirmed_at is not None]
    failed = [plan.id for plan in confirmed if plan.state is PlanState.FAILED]
    steps = snapshot.rows(StepRecord)
    unknown = {row.plan for row in await steps.find(plan=failed, state=StepState.UNKNOWN)} if failed else ()
    return IncidentContext(rules=rules, actions=tuple(_action(plan, unknown) for plan in confirmed))


def active(silences: Iterable[Silence], now: datetime) -> list[Silence]:
    return [silence for silence in silences if silence.is_active(now)]


def silenced_until(
    incident: Incident, alerts: Mapping[str, Alert], silences: Collection[Silence], *, now: datetime
) -> datetime | None:
    """Return when the first of its firing alerts is no longer silenced; None when one is not silenced now.

    `alerts` are the stored alerts of its members by id, `silences` the active ones. Once no alert fires, all
    former ones count.
    """
    if whole := [one.ends_at for one in silences if one.covers_incident(incident.id, now)]:
        return max(whole)
    until: datetime | None = None
    for member in (incident.firing or incident.members) if silences else ():
        alert = alerts.get(member.alert)
        ends = [one.ends_at for one in silences if alert is not None and one.covers(alert.labels, now)]
        if not ends:
            return None
        until = min(until or max(ends), max(ends))
    return until


def _action(plan: Plan, unknown: Collection[str]) -> IncidentAction:
    state = "undone" if plan.undone_by else "unknown" if plan.id in unknown else plan.state.value
    return IncidentAction(plan=plan.id, line=plan.line, who=plan.actor, who_name=plan.actor_name, state=state)
