"""The incident: one broken object, the alerts about it, and its history."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import StrEnum

from alerts.lifecycle import AlertState
from alerts.rules import ResolveWhen, Severity
from alerts.store import stored
from collectors.facts.subjects import Subject


class IncidentEventType(StrEnum):
    """What can happen to an incident. Those in `NOTIFYING` are posted as replies in the card's thread."""

    OPENED = "opened"
    SEVERITY_RAISED = "severity_raised"
    ALERT_ADDED = "alert_added"
    ALERT_RESOLVED = "alert_resolved"
    ACKNOWLEDGED = "acknowledged"
    HANDED_OVER = "handed_over"  # `who` has it now, `text` is the name of who gave it
    GIVEN_BACK = "given_back"
    ACTION_DONE = "action_done"
    REOPENED = "reopened"
    RESOLVED = "resolved"


MAX_EVENTS = 200  # per incident: the first one and the newest
NOTIFYING = frozenset(
    {
        IncidentEventType.SEVERITY_RAISED,
        IncidentEventType.ACKNOWLEDGED,
        IncidentEventType.HANDED_OVER,
        IncidentEventType.GIVEN_BACK,
        IncidentEventType.REOPENED,
        IncidentEventType.RESOLVED,
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class IncidentEvent:
    """An event of an incident; `number` counts within the incident and is part of the reply's id."""

    number: int
    at: datetime
    type: IncidentEventType
    text: str = ""
    who: str = ""  # a person's id or an automation's name
    who_name: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """An alert as its incident stores it, with its last summary, description and texts."""

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
    unseen_since: datetime | None = None  # this and ended_reason: as in Alert
    ended_reason: str = ""

    @property
    def is_firing(self) -> bool:
        return self.state is AlertState.FIRING

    def restated(self, by: timedelta) -> "Member":
        """Return the same alert by a clock that was set by so much."""
        return replace(
            self,
            since=self.since + by,
            resolved_at=self.resolved_at and self.resolved_at + by,
            unseen_since=self.unseen_since and self.unseen_since + by,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Impact:
    """A training that the incident affects."""

    training: str
    owner: str = ""
    team: str = ""
    gpus: float = 0


def _floats(incident: "Incident") -> Iterable[float]:
    yield from (member.value for member in incident.members)
    yield from (impact.gpus for impact in incident.impacts)


@stored(
    "incidents",
    "cluster",
    "state",
    "group_key",
    "resolved_at",
    over=lambda incident: incident.resolved_at,
    floats=_floats,
)
@dataclass(frozen=True, slots=True, kw_only=True)
class Incident:
    """One broken object. `group_key` names it and never changes."""

    id: str
    cluster: str
    group_key: str
    subject: Subject
    opened_at: datetime
    severity: Severity  # the highest of the firing alerts; once resolved, the last such
    channels: tuple[str, ...] = ()
    members: tuple[Member, ...] = ()
    impacts: tuple[Impact, ...] = ()
    events: tuple[IncidentEvent, ...] = ()
    resolve_when: ResolveWhen = ResolveWhen.CLEARED
    acknowledged_by: str = ""
    acknowledged_by_name: str = ""
    acknowledged_at: datetime | None = None
    resolved_at: datetime | None = None
    fixed_by: tuple[str, ...] = ()  # ids of the plans run for it, oldest first

    @property
    def is_open(self) -> bool:
        return self.resolved_at is None

    @property
    def state(self) -> str:
        """Indexed in the store: open or resolved."""
        return "open" if self.is_open else "resolved"

    @property
    def version(self) -> tuple[int, datetime | None]:
        """Changes whenever something happens to the incident; not when a value on it is refreshed."""
        return (self.events[-1].number if self.events else 0, self.resolved_at)

    @property
    def firing(self) -> tuple[Member, ...]:
        """The firing alerts, most severe and oldest first."""
        live = (member for member in self.members if member.is_firing)
        return tuple(sorted(live, key=lambda member: (-member.severity.rank, member.since, member.name)))

    @property
    def lead(self) -> Member:
        """The alert that names the incident: the most severe firing one, or resolved one if none fires."""
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

    def restated(self, by: timedelta) -> "Incident":
        """Return the same incident by a clock that was set by so much."""
        return replace(
            self,
            opened_at=self.opened_at + by,
            acknowledged_at=self.acknowledged_at and self.acknowledged_at + by,
            resolved_at=self.resolved_at and self.resolved_at + by,
            members=tuple(member.restated(by) for member in self.members),
            events=tuple(replace(event, at=event.at + by) for event in self.events),
        )

    def lasted(self, now: datetime) -> timedelta:
        return (self.resolved_at or now) - self.opened_at
