"""Grouping of alerts about one object into an incident, and resolution of the incident. Pure."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from alerts.alert import Alert
from alerts.incidents.events import IncidentEventType
from alerts.incidents.group_keys import CLUSTER_WIDE, group_key_of, group_keys_of
from alerts.incidents.impacts import with_impacts
from alerts.incidents.incident import Incident, Member
from alerts.incidents.members import member_of, summary_of
from alerts.incidents.proofs import NO_FACTS, ProofFacts, carried
from alerts.incidents.volumes import with_volume
from alerts.rules import ResolveWhen, Rule, Severity
from collectors.facts.subjects import Subject
from collectors.facts.topology import Topology

REOPENS_WITHIN = timedelta(
    minutes=10
)  # without a setting: the same rule about the same object is the same incident
MAX_MEMBERS = 500  # per incident: resolved ones make room for firing ones, less severe for more severe


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupingContext:
    """What grouping needs besides the alerts: the rules by id, and the topology.

    `facts`: what may prove that a fault is over.
    `reopens_within`: how soon after its end an alert of the same rule about the same object is the same incident.
    """

    rules: Mapping[str, Rule]
    topology: Topology
    facts: ProofFacts = NO_FACTS
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
        subject=_subject_in_group(alert),
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


def _subject_in_group(alert: Alert) -> Subject:
    """Return the subject without the place of one replica, if the alert is about a component of the whole cluster."""
    if alert.own_subject.component not in CLUSTER_WIDE:
        return alert.subject
    return Subject(cluster=alert.subject.cluster, component=alert.subject.component)


def add_alert(incident: Incident, alert: Alert, grouping: GroupingContext, now: datetime) -> Incident:
    """Return the incident after one of its alerts fired, kept firing or resolved."""
    rule = grouping.rules.get(alert.rule)
    known = {one.alert: one for one in incident.members}
    before = known.get(alert.id)
    others = [one for one in incident.members if incident.stands(one)]
    concerning = member_of(alert, rule, others)
    member = with_volume(concerning, others, grouping.topology) if concerning.is_logged else concerning
    if member.is_worse:
        concerning = member
    member = carried(member, before)
    if before is None and len(known) >= MAX_MEMBERS:
        least = min(incident.members, key=_weight)
        if _weight(member)[:2] <= _weight(least)[:2]:
            return incident
        del known[least.alert]
    known[member.alert] = member
    reopens = member.is_firing and not incident.is_open
    if reopens:
        incident = _reopened(incident, now)
    node = grouping.topology.nodes.get(incident.subject.node)
    after = replace(
        incident,
        members=tuple(known.values()),
        subject=incident.subject.or_else(_subject_in_group(alert)),
        resolve_when=ResolveWhen.ACKNOWLEDGED if _asks_for_somebody(member, rule) else incident.resolve_when,
        gpus=node.gpus if node else incident.gpus,
    )
    after = with_impacts(after, concerning, grouping.topology)
    was_firing = before is not None and before.is_firing
    became_worse = member.is_worse and before is not None and not before.is_worse
    if reopens:
        after = after.with_event(IncidentEventType.REOPENED, now, text=member.summary)
    elif member.is_firing and (became_worse or not was_firing):
        after = _with_added_event(incident, after, member, now)
    elif was_firing and not member.is_firing:
        after = after.with_event(IncidentEventType.ALERT_RESOLVED, now, text=member.summary)
    return replace(after, severity=_severity(after))


def _weight(member: Member) -> tuple[bool, int, datetime]:
    """The order for dropping members when there are too many: what may hold it open outweighs, then severity counts."""
    is_over = not member.is_firing and (not member.proofs or member.proven is not None)
    return not is_over, member.severity.rank, member.since


def _asks_for_somebody(member: Member, rule: Rule | None) -> bool:
    """Whether somebody must acknowledge the alert. One of severity info is context, and holds nothing open."""
    is_asked = rule is not None and rule.template.resolve_when is ResolveWhen.ACKNOWLEDGED
    return is_asked and member.severity is not Severity.INFO


def _reopened(incident: Incident, now: datetime) -> Incident:
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
    )


def _with_added_event(before: Incident, after: Incident, member: Member, now: datetime) -> Incident:
    if member.is_worse or member.severity.rank > before.severity.rank:
        return after.with_event(
            IncidentEventType.SEVERITY_RAISED, now, text=f"{member.severity.value}: {member.summary}"
        )
    first = len(before.members) == 0
    return after if first else after.with_event(IncidentEventType.ALERT_ADDED, now, text=member.summary)


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
    ends = (IncidentEventType.ALERT_RESOLVED, IncidentEventType.PROVEN)
    resolved = [event.at for event in incident.events if event.type in ends]
    ended = max(resolved) if resolved and incident.resolve_when is ResolveWhen.CLEARED else now
    return replace(incident, resolved_at=ended).with_event(IncidentEventType.RESOLVED, ended)


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


def belongs(incident: Incident, alert: Alert, now: datetime, within: timedelta = REOPENS_WITHIN) -> bool:
    """Whether the alert is about this incident's object, and the incident is open or its rule ended it just now."""
    if incident.cluster != alert.cluster or incident.group_key not in group_keys_of(alert):
        return False
    if incident.resolved_at is None:
        return True
    return now - incident.resolved_at < within and has_rule(incident, alert)


def has_rule(incident: Incident, alert: Alert) -> bool:
    """Whether the incident has had an alert of the same rule."""
    return any(member.rule == alert.rule for member in incident.members)


def _severity(incident: Incident) -> Severity:
    return max(
        (member.severity for member in incident.standing),
        key=lambda severity: severity.rank,
        default=incident.severity,
    )


def shared_subject(incident: Incident) -> Subject:
    """Return what the firing alerts have in common: eight hot GPUs of a node become the node."""
    return shared_by(incident.subject, incident.firing or incident.members)


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
        return f"GPU {subject.gpu} on {subject.node}"
    return (
        subject.node
        or subject.pod
        or subject.rack
        or subject.component
        or subject.namespace
        or subject.cluster
    )
