"""This file has the incident: one broken thing, the alerts that speak of it, and its history."""

from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import StrEnum

from alerts.lifecycle import AlertState
from alerts.rules import ResolveWhen, Severity
from collectors.facts.subjects import Subject


class IncidentEventType(StrEnum):
    """What can happen to an incident. The ones in `LOUD` must reach somebody: each is a line in the card's thread."""

    OPENED = "opened"
    SEVERITY_RAISED = "severity_raised"
    ALERT_ADDED = "alert_added"  # one more alert
    ALERT_RESOLVED = "alert_resolved"  # one alert less
    ACKNOWLEDGED = "acknowledged"
    ACTION_DONE = "action_done"
    REOPENED = "reopened"
    RESOLVED = "resolved"


MAX_EVENTS = 200  # kept of an incident's history: its beginning and the newest
NOTIFYING = frozenset(
    {
        IncidentEventType.SEVERITY_RAISED,
        IncidentEventType.ACKNOWLEDGED,
        IncidentEventType.REOPENED,
        IncidentEventType.RESOLVED,
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class IncidentEvent:
    """One thing that happened to an incident; `number` counts within it and keys its line."""

    number: int
    at: datetime
    type: IncidentEventType
    text: str = ""
    who: str = ""  # a person's id or a robot's name
    who_name: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """An alert as its incident keeps it, the last of its words included."""

    alert: str  # Alert.id
    rule: str
    name: str
    severity: Severity
    state: AlertState
    since: datetime
    summary: str
    description: str = ""
    value: float = 0
    texts: tuple[str, ...] = ()
    subject: Subject = field(default_factory=Subject)
    resolved_at: datetime | None = None
    unseen_since: datetime | None = None  # and the next: as the alert has them
    ended_reason: str = ""

    @property
    def is_firing(self) -> bool:
        return self.state is AlertState.FIRING


@dataclass(frozen=True, slots=True, kw_only=True)
class Impact:
    """A training that the broken thing hurts."""

    training: str
    owner: str = ""
    team: str = ""
    gpus: float = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Incident:
    """One broken thing. `fold` names it and is sticky: once chosen it does not move."""

    id: str
    cluster: str
    group_key: str
    subject: Subject
    opened_at: datetime
    severity: Severity  # the worst of what fires now; of what fired, once resolved
    channels: tuple[str, ...] = ()
    members: tuple[Member, ...] = ()
    impacts: tuple[Impact, ...] = ()
    events: tuple[IncidentEvent, ...] = ()
    resolve_when: ResolveWhen = ResolveWhen.CLEARED
    acknowledged_by: str = ""
    acknowledged_by_name: str = ""
    acknowledged_at: datetime | None = None
    resolved_at: datetime | None = None
    fixed_by: tuple[str, ...] = ()  # the ids of plans done for it, oldest first

    @property
    def is_open(self) -> bool:
        return self.resolved_at is None

    @property
    def state(self) -> str:
        """For look-ups in the store: open or resolved."""
        return "open" if self.is_open else "resolved"

    @property
    def firing(self) -> tuple[Member, ...]:
        """The alerts that fire now, the worst and oldest first."""
        live = (member for member in self.members if member.is_firing)
        return tuple(sorted(live, key=lambda member: (-member.severity.rank, member.since, member.name)))

    @property
    def lead(self) -> Member:
        """The alert that names the incident: the worst that fires, or that did."""
        return min(
            self.members,
            key=lambda member: (not member.is_firing, -member.severity.rank, member.since, member.name),
        )

    def with_event(
        self, type: IncidentEventType, at: datetime, *, text: str = "", who: str = "", who_name: str = ""
    ) -> "Incident":
        number = self.events[-1].number + 1 if self.events else 1
        event = IncidentEvent(number=number, at=at, type=type, text=text, who=who, who_name=who_name)
        first, latest = self.events[:1], self.events[1:][-(MAX_EVENTS - 2) :]
        return replace(self, events=(*first, *latest, event))

    def lasted(self, now: datetime) -> timedelta:
        return (self.resolved_at or now) - self.opened_at
