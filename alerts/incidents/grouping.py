"""This file folds alerts that share a broken thing into one incident, and closes it. Pure."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from alerts.alert import Alert
from alerts.incidents.incident import Impact, Incident, IncidentEventType, Member
from alerts.lifecycle import AlertState
from alerts.rules import ResolveWhen, Rule, Severity
from collectors.facts.subjects import Subject
from collectors.facts.topology import Topology

REOPENS_WITHIN = timedelta(minutes=30)  # a thing that breaks again this soon is the same incident
MAX_MEMBERS = 500  # kept in an incident: what is over makes room for what fires, the mild for the worse


# Components of the whole cluster: what one replica on some node complains of is the component's trouble.
CLUSTER_WIDE = frozenset(
    {
        "alertmanager",
        "apiserver",
        "ceph",
        "controller-manager",
        "dns",
        "elasticsearch",
        "etcd",
        "kube-state-metrics",
        "kueue",
        "metallb",
        "prometheus",
        "scheduler",
        "volcano",
    }
)


def group_key_of(alert: Alert) -> str:
    """The broken thing that an alert speaks of, as `kind/name`: the first of these that its own labels name."""
    own = alert.own_subject
    if own.component in CLUSTER_WIDE:
        return f"component/{own.component}"
    for kind in ("volume", "training", "workload"):
        if name := getattr(own, kind):
            return f"{kind}/{name}"
    if own.pod:
        return (
            f"training/{alert.subject.training}"
            if alert.subject.training
            else f"pod/{own.namespace}/{own.pod}"
        )
    for kind in ("node", "rack", "service", "component", "namespace"):
        if name := getattr(own, kind):
            return f"{kind}/{getattr(alert.subject, kind) or name}"
    return f"rule/{alert.name}"


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupingContext:
    """What folding needs beside the alerts: the rules by id, and the picture of the cluster."""

    rules: Mapping[str, Rule]
    topology: Topology


def open_incident(id: str, alert: Alert, *, channels: tuple[str, ...], now: datetime) -> Incident:
    """A new incident for the first alert of a broken thing."""
    opened = Incident(
        id=id,
        cluster=alert.cluster,
        group_key=group_key_of(alert),
        subject=alert.subject,
        opened_at=now,
        severity=alert.severity,
        channels=channels,
    )
    return opened.with_event(IncidentEventType.OPENED, now, text=summary_of(alert))


def add_alert(incident: Incident, alert: Alert, grouping: GroupingContext, now: datetime) -> Incident:
    """The incident after one of its alerts fired, went on, or resolved."""
    rule = grouping.rules.get(alert.rule)
    member = _member(alert)
    known = {one.alert: one for one in incident.members}
    before = known.get(member.alert)
    if before is None and len(known) >= MAX_MEMBERS:
        least = min(incident.members, key=_weight)
        if _weight(member)[:2] <= _weight(least)[:2]:
            return incident
        del known[least.alert]
    known[member.alert] = member
    closes = rule.template.resolve_when if rule else ResolveWhen.CLEARED
    after = replace(
        incident,
        members=tuple(known.values()),
        subject=incident.subject.or_else(alert.subject),
        impacts=_impacts(incident, alert, grouping.topology),
        resolve_when=max(incident.resolve_when, closes, key=list(ResolveWhen).index),
    )
    was_firing = before is not None and before.is_firing
    if member.is_firing and not was_firing:
        after = _with_added_event(incident, after, member, now)
    elif was_firing and not member.is_firing:
        after = after.with_event(IncidentEventType.ALERT_RESOLVED, now, text=member.summary)
    return replace(after, severity=_severity(after))


def _weight(member: Member) -> tuple[bool, int, datetime]:
    """How much a member has to say, of too many: one that fires more than one that did, then the worse."""
    return member.is_firing, member.severity.rank, member.since


def _with_added_event(before: Incident, after: Incident, member: Member, now: datetime) -> Incident:
    if not before.is_open:
        reopened = replace(
            after,
            resolved_at=None,
            acknowledged_by="",
            acknowledged_by_name="",
            acknowledged_at=None,
            fixed_by=(),
        )
        return reopened.with_event(IncidentEventType.REOPENED, now, text=member.summary)
    if member.severity.rank > before.severity.rank:
        return after.with_event(
            IncidentEventType.SEVERITY_RAISED, now, text=f"{member.severity.value}: {member.summary}"
        )
    first = len(before.members) == 0
    return after if first else after.with_event(IncidentEventType.ALERT_ADDED, now, text=member.summary)


def resolve_if_over(incident: Incident, now: datetime) -> Incident:
    """Close the incident when nothing of it fires any more and what it waits for has come.

    It was over when its last alert cleared, also where that is only known now.
    """
    if not incident.is_open or incident.firing:
        return incident
    if incident.resolve_when is not ResolveWhen.CLEARED and not incident.acknowledged_by:
        return incident
    cleared = [event.at for event in incident.events if event.type is IncidentEventType.ALERT_RESOLVED]
    ended = max(cleared) if cleared and incident.resolve_when is ResolveWhen.CLEARED else now
    return replace(incident, resolved_at=ended).with_event(IncidentEventType.RESOLVED, ended)


def acknowledge(incident: Incident, *, who: str, who_name: str = "", now: datetime) -> Incident:
    """Bind a person to the incident. The same person twice changes nothing."""
    if incident.acknowledged_by == who:
        return incident
    taken = replace(incident, acknowledged_by=who, acknowledged_by_name=who_name, acknowledged_at=now)
    return taken.with_event(IncidentEventType.ACKNOWLEDGED, now, who=who, who_name=who_name)


def add_action(
    incident: Incident, *, plan: str, line: str, who: str, who_name: str = "", now: datetime
) -> Incident:
    """Note a finished deed: it is what the card will name when the fault goes."""
    if plan in incident.fixed_by:
        return incident
    noted = replace(incident, fixed_by=(*incident.fixed_by, plan))
    return noted.with_event(IncidentEventType.ACTION_DONE, now, text=line, who=who, who_name=who_name)


def belongs(incident: Incident, alert: Alert, now: datetime) -> bool:
    """Whether the alert speaks of this incident's broken thing: it is open, or was until a short while ago."""
    if incident.cluster != alert.cluster or incident.group_key != group_key_of(alert):
        return False
    return incident.resolved_at is None or now - incident.resolved_at < REOPENS_WITHIN


def summary_of(alert: Alert) -> str:
    """The alert in one sentence: its own, or its name and what it is about."""
    if said := alert.annotations.get("summary") or alert.annotations.get("message"):
        return said
    about = ", ".join(alert.own_subject.words().values()) or ", ".join(
        alert.labels.without("alertname", "severity").values()
    )
    return f"{alert.name}: {about}" if about else alert.name


def _member(alert: Alert) -> Member:
    return Member(
        alert=alert.id,
        rule=alert.rule,
        name=alert.name,
        severity=alert.severity,
        state=alert.life.state,
        since=alert.life.since,
        summary=summary_of(alert),
        description=alert.annotations.get("description", ""),
        value=alert.value,
        texts=alert.texts,
        subject=alert.subject,
        resolved_at=alert.life.resolved_at,
        unseen_since=alert.unseen_since,
        ended_reason=alert.ended_reason,
    )


def _impacts(incident: Incident, alert: Alert, topology: Topology) -> tuple[Impact, ...]:
    """Everybody who was hurt at any time: a training that ended because of it stays on the card."""
    known = {one.training: one for one in incident.impacts}
    if alert.life.state is AlertState.FIRING:
        for training in topology.affected_by(alert.subject):
            known[training.id] = Impact(
                training=training.id, owner=training.owner, team=training.team, gpus=training.gpus
            )
    return tuple(sorted(known.values(), key=lambda impact: (-impact.gpus, impact.training)))


def _severity(incident: Incident) -> Severity:
    live: Iterable[Member] = incident.firing
    return max(
        (member.severity for member in live), key=lambda severity: severity.rank, default=incident.severity
    )


def shared_subject(incident: Incident) -> Subject:
    """What all that fires of it has in common: eight hot GPUs of a node are the node's."""
    subjects = [member.subject for member in incident.firing or incident.members]
    told: dict[str, str] = {}
    for word in incident.subject.words():
        values = {value for subject in subjects if (value := getattr(subject, word))}
        told[word] = values.pop() if len(values) == 1 else ""
    return Subject(**told)


def place_of(subject: Subject) -> str:
    """Where it is, for people: the most exact place the subject knows."""
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
