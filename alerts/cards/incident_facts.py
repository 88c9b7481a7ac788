"""The facts of an incident, for channels that programs read: its alerts with their labels, and its state. Pure."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from hashlib import blake2b

from alerts.alert import Alert
from alerts.cards.suggested_actions import fill
from alerts.cards.text import person
from alerts.incidents.incident import Incident, Member
from alerts.rules import ImpactScope, Severity
from collectors.facts.one_line import LONGEST, printable

FOR_CARDS = (
    "headline",
    "proof",
    "resolved_headline",
    "worse_summary",
    "worse_description",
)  # words for cards and for us
MAX_ALERTS = 100  # of one incident, firing ones first; the receiver gets the number of the others


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertFacts:
    """One alert of the incident. `fingerprint`: 16 hex digits, equal for equal labels in one cluster."""

    fingerprint: str
    is_firing: bool
    labels: Mapping[str, str]
    annotations: Mapping[str, str]
    starts_at: datetime
    ends_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class IncidentFacts:
    """What an incident is now. `version` grows with each of its events."""

    id: str
    cluster: str
    group_key: str
    version: int
    title: str
    severity: Severity
    phase: str  # firing, acknowledged or resolved
    subject: Mapping[str, str]
    opened_at: datetime
    resolved_at: datetime | None = None
    acknowledged_by: str = ""
    affected: tuple[str, ...] = ()  # trainings
    links: Mapping[str, str] = field(default_factory=dict)
    alerts: tuple[AlertFacts, ...] = ()
    left_out: int = 0  # alerts

    @property
    def state(self) -> tuple[object, ...]:
        """What a reader must learn when it changes. A measured value or a text does not belong to it."""
        alerts = sorted((one.fingerprint, one.is_firing) for one in self.alerts)
        is_open = self.resolved_at is None
        return (self.id, is_open, self.severity.value, bool(self.acknowledged_by), self.left_out, *alerts)


def shown_members(incident: Incident) -> tuple[Member, ...]:
    """Return the members that the facts name."""
    return (*incident.firing, *(one for one in incident.members if not one.is_firing))[:MAX_ALERTS]


def incident_facts(
    incident: Incident, alerts: Mapping[str, Alert], *, title: str, links: Mapping[str, str]
) -> IncidentFacts:
    """Return the facts. `alerts` are the stored alerts of the shown members by id.

    One that is no longer stored has what its member remembers.
    """
    filled = {name: fill(address, incident.subject) for name, address in links.items()}
    return IncidentFacts(
        id=incident.id,
        cluster=incident.cluster,
        group_key=f"{incident.cluster}/{incident.group_key}",
        version=incident.version[0],
        title=printable(title, LONGEST),
        severity=incident.severity,
        phase=_phase(incident),
        subject=_printable({"cluster": incident.cluster, **incident.subject.words()}),
        opened_at=incident.opened_at,
        resolved_at=incident.resolved_at,
        acknowledged_by=printable(
            person(incident.acknowledged_by, incident.acknowledged_by_name).text, LONGEST
        ),
        affected=tuple(
            printable(impact.shown, LONGEST)
            for impact in incident.impacts
            if impact.scope is not ImpactScope.BYSTANDERS
        ),
        links=_printable({name: address for name, address in filled.items() if address is not None}),
        alerts=tuple(
            _alert(member, alerts.get(member.alert), incident.cluster) for member in shown_members(incident)
        ),
        left_out=incident.alerts - len(shown_members(incident)),
    )


def _phase(incident: Incident) -> str:
    if not incident.is_open:
        return "resolved"
    return "acknowledged" if incident.acknowledged_by else "firing"


def _alert(member: Member, alert: Alert | None, cluster: str) -> AlertFacts:
    labels = alert.labels if alert else {"alertname": member.name, "severity": member.severity.value}
    key = f"{cluster}/{member.alert.rpartition('/')[2]}"
    is_same_life = alert is not None and alert.life.since == member.since  # else it is a later one
    fired_at = alert.life.fired_at if alert is not None and is_same_life else None
    annotations = (
        {name: it for name, it in alert.annotations.items() if name not in FOR_CARDS} if alert else {}
    )
    annotations.setdefault("summary", member.summary)
    return AlertFacts(
        fingerprint=blake2b(key.encode(), digest_size=8).hexdigest(),
        is_firing=member.is_firing,
        labels=_printable({"cluster": cluster, **labels}),
        annotations=_printable(annotations),
        starts_at=fired_at or member.since,
        ends_at=None if member.is_firing else member.resolved_at,
    )


def _printable(texts: Mapping[str, str]) -> dict[str, str]:
    return {name: printable(value, LONGEST) for name, value in texts.items()}


def body_within(most: int, facts: IncidentFacts, encode: Callable[[IncidentFacts], bytes]) -> bytes:
    """Return the encoded facts. Alerts that make them larger than so many bytes are counted only."""
    body = encode(facts)
    while len(body) > most and len(facts.alerts) > 1:
        kept = facts.alerts[: len(facts.alerts) // 2]
        facts = replace(facts, alerts=kept, left_out=facts.left_out + len(facts.alerts) - len(kept))
        body = encode(facts)
    return body
