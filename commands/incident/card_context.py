"""The context of an incident's card and thread replies, read from the store."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from datetime import datetime

from alerts.alert import Alert
from alerts.cards.cluster_now import ClusterNow
from alerts.cards.incident_context import Asked, IncidentAction, IncidentContext, StillOpen
from alerts.cards.message import Button
from alerts.cards.suggested_actions import suggestions
from alerts.cards.text import text
from alerts.incidents.incident import Incident
from alerts.incidents.member_rows import pages_of
from alerts.incidents.recurring_faults import WITHIN, Returned, returned
from alerts.rules import ImpactScope, Rule
from alerts.silences import Silence
from alerts.store import Between, StoreSnapshot
from collectors.facts.sentences import sentence
from commands.core.incident_plans import plans_of
from commands.core.testable_nodes import ANY_TESTS, NodeTests
from commands.execution.plan import Plan, PlanState, StepRecord, StepState
from commands.incident.cordons_left import cordons_left
from commands.incident.culprit_search import in_trouble
from commands.incident.seen_cluster import SeenCluster, cluster_now
from commands.models import OPEN_REQUEST, ReclaimRequest


async def incident_context(
    incident: Incident,
    snapshot: StoreSnapshot,
    *,
    rules: Mapping[str, Rule],
    now: datetime,
    cluster: SeenCluster | None = None,
    tests: NodeTests = ANY_TESTS,
) -> IncidentContext:
    """Return the confirmed plans for the incident, until when all of it is silenced, and what they left behind."""
    silences = active(await snapshot.rows(Silence).find(cluster=incident.cluster), now)
    alerts = (
        await snapshot.rows(Alert).get_all(member.alert for member in incident.members) if silences else {}
    )
    plans = await plans_of([incident], snapshot)
    context = await context_of(incident, plans[incident.id], snapshot, rules=rules, cluster=cluster)
    left = (
        *await cordons_left(incident, snapshot, tests=tests, seen=cluster),
        *still_silenced(incident, alerts, silences, now=now),
    )
    covering = _covering(incident, alerts, silences, now=now)
    return replace(
        context,
        silence=max(covering, key=lambda one: one.ends_at).id if covering else "",
        silenced_until=await _silenced_until(incident, alerts, silences, snapshot, now=now),
        is_silenced_until_over=any(
            one.is_until_over and one.covers_incident(incident, now) for one in silences
        ),
        still_open=() if incident.is_open else left,
        asked=await _asked(incident, snapshot) if incident.is_open else (),
        returned=await _returned(incident, snapshot),
        culprits=in_trouble(incident, rules, cluster),
    )


async def _silenced_until(
    incident: Incident,
    alerts: Mapping[str, Alert],
    silences: Collection[Silence],
    snapshot: StoreSnapshot,
    *,
    now: datetime,
) -> datetime | None:
    """Return what `silenced_until` does. Of many alerts the others are only read while all before are silenced."""
    until = silenced_until(incident, alerts, silences, now=now)
    if (
        until is None
        or incident.totals is None
        or any(one.covers_incident(incident, now) for one in silences)
    ):
        return until
    is_firing = bool(incident.firing)
    async for page in pages_of(incident.id, snapshot):
        members = tuple(row.member for row in page if row.member.is_firing or not is_firing)
        more = await snapshot.rows(Alert).get_all(member.alert for member in members)
        if members:
            others = replace(incident, members=members, totals=None)
            ends = silenced_until(others, more, silences, now=now)
            if ends is None:
                return None
            until = min(until, ends)
    return until


async def _returned(incident: Incident, snapshot: StoreSnapshot) -> Returned | None:
    """Return what stands of it although it was repaired before."""
    if not incident.unproven:
        return None
    since = Between(start=incident.began_at - WITHIN)
    earlier = await snapshot.rows(Incident).find(
        cluster=incident.cluster, group_key=incident.group_key, resolved_at=since
    )
    return returned(incident, earlier)


async def _asked(incident: Incident, snapshot: StoreSnapshot) -> tuple[Asked, ...]:
    """Return the owners who were asked for the idle GPUs that the incident is about, and have not refused."""
    found = await snapshot.rows(ReclaimRequest).find(
        cluster=incident.cluster, state=[state.value for state in OPEN_REQUEST], for_plan=""
    )
    holders = {one.training for one in incident.impacts if one.scope is ImpactScope.HOLDER}
    return tuple(
        Asked(owner=one.owner, owner_id=one.owner_id, until=one.grace_until)
        for one in found
        if one.training in holders
    )


async def context_of(
    incident: Incident,
    plans: Iterable[Plan],
    snapshot: StoreSnapshot,
    *,
    rules: Mapping[str, Rule],
    cluster: SeenCluster | None = None,
) -> IncidentContext:
    """Return the context of an incident that is not silenced, with the plans confirmed since it began."""
    confirmed = [
        plan for plan in plans if plan.confirmed_at is not None and plan.confirmed_at >= incident.began_at
    ]
    failed = [plan.id for plan in confirmed if plan.state is PlanState.FAILED]
    steps = snapshot.rows(StepRecord)
    unknown = {row.plan for row in await steps.find(plan=failed, state=StepState.UNKNOWN)} if failed else ()
    suggested = suggestions(incident, rules) if incident.is_open else ()
    return IncidentContext(
        rules=rules,
        actions=tuple(_action(plan, unknown) for plan in confirmed),
        cluster=await cluster_now(incident.cluster, suggested, snapshot, cluster)
        if suggested
        else ClusterNow(),
    )


def still_suspended(training: str, plan: str) -> StillOpen:
    return StillOpen(
        text=text(
            sentence("`{training}` is still suspended by plan `{plan}`.", training=training, plan=plan)
        ),
        button=Button(label=sentence("Start {training} again", training=training), line=f"plan undo {plan}"),
    )


def still_silenced(
    incident: Incident, alerts: Mapping[str, Alert], silences: Iterable[Silence], *, now: datetime
) -> list[StillOpen]:
    """Return the silences that still cover it or its alerts: the next one would not notify.

    One that lasts until the incident is over ends by itself.
    """
    return [
        StillOpen(
            text=text(
                sentence(
                    "Its alerts are still silenced until {at}: `{silence}`.", at=one.ends_at, silence=one.id
                )
            ),
            button=Button(
                label=sentence("End silence {silence}", silence=one.id), line=f"silence expire {one.id}"
            ),
        )
        for one in _covering(incident, alerts, silences, now=now)
        if not one.is_until_over
    ]


def _covering(
    incident: Incident, alerts: Mapping[str, Alert], silences: Iterable[Silence], *, now: datetime
) -> list[Silence]:
    """Return the silences of the incident, or of any of its alerts."""
    return [
        one
        for one in silences
        if one.covers_incident(incident, now)
        or any(one.covers(alert.labels, now) for alert in alerts.values())
    ]


def active(silences: Iterable[Silence], now: datetime) -> list[Silence]:
    return [silence for silence in silences if silence.is_active(now)]


def silenced_until(
    incident: Incident, alerts: Mapping[str, Alert], silences: Collection[Silence], *, now: datetime
) -> datetime | None:
    """Return when the first of its firing alerts is no longer silenced; None when one is not silenced now.

    `alerts` are the stored alerts of its members by id, `silences` the active ones. Once no alert fires, all
    former ones count.
    """
    if whole := [one.ends_at for one in silences if one.covers_incident(incident, now)]:
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
    return IncidentAction(
        plan=plan.id,
        line=plan.line,
        who=plan.actor,
        who_name=plan.actor_name,
        state=state,
        relieves=plan.relieves,
        disrupts=tuple(one.name for one in plan.disrupts),
        confirmed_at=plan.confirmed_at,
    )
