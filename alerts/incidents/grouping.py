"""Grouping of alerts about one object into an incident, who works on it, and its resolution. Pure."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from alerts.alert import Alert
from alerts.incidents.events import IncidentEvent, IncidentEventType
from alerts.incidents.group_keys import CLUSTER_WIDE, group_key_of
from alerts.incidents.incident import Incident, Member
from alerts.incidents.members import summary_of
from alerts.incidents.proofs import NO_FACTS, ProofFacts
from alerts.rules import ResolveWhen, Rule
from collectors.facts.sentences import sentence
from collectors.facts.subjects import Subject
from collectors.facts.topology import Topology

REOPENS_WITHIN = timedelta(
    minutes=10
)  # without a setting: the same rule about the same object is the same incident


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupingContext:
    """What grouping needs besides the alerts: the rules by id, and the topology.

    `facts`: what may prove that a fault is over; None if nothing was looked at.
    `reopens_within`: how soon after its end an alert of the same rule about the same object is the same incident.
    """

    rules: Mapping[str, Rule]
    topology: Topology
    facts: ProofFacts | None = NO_FACTS
    reopens_within: timedelta = REOPENS_WITHIN


def open_incident(
    id: str,
    alert: Alert,
    *,
    channels: tuple[str, ...],
    now: datetime,
    earlier: Incident | None = None,
) -> Incident:
    """Return a new incident for the first alert about an object. `earlier`: the last one about it, if there is one."""
    opened = Incident(
        id=id,
        cluster=alert.cluster,
        group_key=group_key_of(alert),
        subject=subject_in_group(alert),
        opened_at=now,
        severity=alert.severity,
        channels=channels,
    )
    if earlier is not None:
        opened = replace(
            opened,
            earlier=earlier.id,
            earlier_ended_at=earlier.resolved_at,
            is_repeat=has_rule(earlier, alert),
        )
    return opened.with_event(IncidentEventType.OPENED, now, text=summary_of(alert))


def subject_in_group(alert: Alert) -> Subject:
    """Return the subject without the place of one replica, if the alert is about a component of the whole cluster."""
    if alert.own_subject.component not in CLUSTER_WIDE:
        return alert.subject
    return Subject(cluster=alert.subject.cluster, component=alert.subject.component)


def resolve_if_over(incident: Incident, now: datetime) -> Incident:
    """Resolve the incident if none of its alerts fires, none waits for a proof, and its resolve condition is met.

    It ends at the time its last alert resolved or was proven over, also if a backfill reports that late.
    """
    if not incident.is_open or any(member.is_firing for member in incident.members):
        return incident
    if incident.resolve_when is not ResolveWhen.CLEARED and not incident.acknowledged_by:
        return incident
    if any(incident.awaits_proof(member) for member in incident.members):
        return incident
    ended = end_of(incident.resolve_when, incident.events, now)
    return replace(incident, resolved_at=ended).with_event(IncidentEventType.RESOLVED, ended)


def reopened(incident: Incident, now: datetime) -> Incident:
    """Return the incident open again. Who acknowledged it, what was done for it, and whom it affected is over."""
    return replace(
        incident,
        stood_before=incident.lasted(now),
        times=incident.times + 1,
        reopened_at=now,
        resolved_at=None,
        acknowledged_by="",
        acknowledged_by_name="",
        acknowledged_at=None,
        fixed_by=(),
        impacts=(),
        is_crowded=False,
    )


def end_of(resolve_when: ResolveWhen, events: Iterable[IncidentEvent], now: datetime) -> datetime:
    """Return when an incident in which nothing fires ended: at its last such event, or now if it waited."""
    ends = (IncidentEventType.ALERT_RESOLVED, IncidentEventType.PROVEN)
    resolved = [event.at for event in events if event.type in ends]
    return max(resolved) if resolved and resolve_when is ResolveWhen.CLEARED else now


def acknowledge(incident: Incident, *, who: str, who_name: str = "", now: datetime) -> Incident:
    """Acknowledge the incident for a person. A second time by the same person changes nothing."""
    if incident.acknowledged_by == who:
        return incident
    acknowledged = replace(incident, acknowledged_by=who, acknowledged_by_name=who_name, acknowledged_at=now)
    return acknowledged.with_event(IncidentEventType.ACKNOWLEDGED, now, who=who, who_name=who_name)


def add_action(
    incident: Incident, *, plan: str, line: str, who: str, who_name: str = "", now: datetime
) -> Incident:
    """Record a finished action, which the card names as the fix once the incident is resolved."""
    if plan in incident.fixed_by:
        return incident
    recorded = replace(incident, fixed_by=(*incident.fixed_by, plan))
    return recorded.with_event(IncidentEventType.ACTION_DONE, now, text=line, who=who, who_name=who_name)


def has_rule(incident: Incident, alert: Alert) -> bool:
    """Whether the incident has had an alert of the same rule."""
    return any(member.rule == alert.rule for member in incident.members)


def shared_subject(incident: Incident) -> Subject:
    """Return what the firing alerts have in common: eight hot GPUs of a node become the node."""
    if incident.totals is not None:
        return incident.totals.shared.subject
    firing = [member for member in incident.members if member.is_firing]
    return shared_by(incident.subject, firing or incident.members)


def shared_by(subject: Subject, members: Iterable[Member]) -> Subject:
    """Return what these alerts have in common of the subject of their incident."""
    subjects = [member.subject for member in members]
    shared: dict[str, str] = {}
    for word in (*subject.words(), "training_name"):
        values = {value for one in subjects if (value := getattr(one, word))}
        shared[word] = values.pop() if len(values) == 1 else ""
    return Subject(**shared)


def place_of(subject: Subject) -> str:
    """Return where it is, for people: the most exact place that the subject names."""
    if subject.node and subject.gpu:
        return sentence("GPU {gpu} on {node}", gpu=subject.gpu, node=subject.node)
    return (
        subject.node
        or subject.pod
        or subject.rack
        or subject.component
        or subject.namespace
        or subject.cluster
    )


def hand_over(incident: Incident, *, to: str, to_name: str, by_name: str, now: datetime) -> Incident:
    """Return the incident as acknowledged by another person, to whom somebody handed it."""
    handed = replace(
        incident,
        acknowledged_by=to,
        acknowledged_by_name=to_name,
        acknowledged_at=incident.acknowledged_at or now,
    )
    return handed.with_event(IncidentEventType.HANDED_OVER, now, text=by_name, who=to, who_name=to_name)


def give_back(incident: Incident, *, who: str, who_name: str, now: datetime) -> Incident:
    """Return the incident as acknowledged by nobody."""
    returned = replace(incident, acknowledged_by="", acknowledged_by_name="", acknowledged_at=None)
    return returned.with_event(IncidentEventType.GIVEN_BACK, now, who=who, who_name=who_name)
