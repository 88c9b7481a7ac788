"""The parent incident: one row and one card for the incidents of many nodes that began together."""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from alerts.incidents.events import IncidentEvent, IncidentEventType, with_next
from alerts.incidents.incident import CALLS, Endable
from alerts.parents.likely_cause import LikelyCause
from alerts.rules import Severity
from alerts.store import stored
from collectors.facts.subjects import Subject

HOUR = timedelta(hours=1)
COUNTED = 4  # alerts that it names with the number of their nodes: the card has the rest


@dataclass(frozen=True, slots=True, kw_only=True)
class Fired:
    """How many of its nodes an alert fires on; once it is over, fired on at last."""

    alert: str
    nodes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """What its members are now."""

    severity: Severity
    gravity: int
    incidents: int
    open_incidents: int
    nodes: int
    open_nodes: int
    fired: tuple[Fired, ...] = ()  # the gravest first, then what is on most nodes: at most COUNTED
    other_alerts: int = 0  # names that `fired` leaves out
    channels: tuple[str, ...] = ()
    likely: LikelyCause | None = None  # as long as there are open members
    at_stake: float = 0  # GPUs: on its nodes, and of trainings that stand still with them
    gpus: int = 0  # of the trainings on its open nodes
    alerts: int = 0  # of its incidents, over or not

    @property
    def extent(self) -> int:
        """What its list has: it grows with each incident and with each alert."""
        return self.incidents + self.alerts


@dataclass(frozen=True, slots=True, kw_only=True)
class Announced:
    """How large its channel was last notified that it is: by event `event`, at `at`."""

    event: int
    at: datetime
    nodes: int
    gpus: int


@stored(
    "parents",
    "cluster",
    "state",
    "key",
    "resolved_at",
    "unanswered_since",
    over=lambda parent: parent.resolved_at,
    floats=lambda parent: (parent.gpu_hours, parent.standing.at_stake),
)
@dataclass(frozen=True, slots=True, kw_only=True)
class ParentIncident(Endable):
    """What many nodes have in common. `key` is its kind and its name, such as `rack/r12`, and never changes.

    Its members are incidents that name it; they keep their group keys, acknowledgements and histories. It is open
    for as long as one of them is.
    """

    id: str  # of the same numbers as those of incidents
    cluster: str
    key: str
    name: str  # of what they have in common, as people read it
    opened_at: datetime
    joined_at: datetime  # when the last member joined
    standing: Standing
    listed: int = 0  # `Standing.extent` when the list was attached last
    grew_at: datetime | None = None  # when its extent changed last
    gpu_hours: float = 0  # at stake until `counted_at`
    counted_at: datetime | None = None
    announced: Announced | None = None
    channels: tuple[str, ...] = ()
    events: tuple[IncidentEvent, ...] = ()
    acknowledged_by: str = ""
    acknowledged_by_name: str = ""
    acknowledged_at: datetime | None = None
    resolved_at: datetime | None = None
    reopened_at: datetime | None = None  # the last time

    @property
    def parent(self) -> str:
        """A parent is a part of no other."""
        return ""

    @property
    def unanswered_since(self) -> datetime | None:
        """Indexed in the store: as of an incident."""
        if not self.is_open or self.acknowledged_by or self.severity is not Severity.CRITICAL:
            return None
        return max((event.at for event in self.events if event.type in CALLS), default=self.opened_at)

    @property
    def kind(self) -> str:
        """Of what it is: of STORM_KEYS, such as rack."""
        return self.key.partition("/")[0]

    @property
    def severity(self) -> Severity:
        return self.standing.severity

    @property
    def gravity(self) -> int:
        return self.standing.gravity

    @property
    def began_at(self) -> datetime:
        return self.reopened_at or self.opened_at

    def lasted(self, now: datetime) -> timedelta:
        """Return how long it has stood since it began, the last time."""
        return (self.resolved_at or now) - self.began_at

    def gpu_hours_until(self, now: datetime) -> float:
        """Return the GPU-hours at stake since it was opened."""
        since, until = self.counted_at or self.opened_at, self.resolved_at or now
        return self.gpu_hours + self.standing.at_stake * max(0.0, (until - since) / HOUR)

    @property
    def subject(self) -> Subject:
        """As far as a subject has a word for it."""
        known = Subject(cluster=self.cluster)
        if self.kind not in ("rack", "component", "training"):
            return known
        return replace(known, **{self.kind: self.key.partition("/")[2]})

    def with_event(
        self, type: IncidentEventType, at: datetime, *, text: str = "", who: str = "", who_name: str = ""
    ) -> "ParentIncident":
        events = with_next(self.events, type, at, text=text, who=who, who_name=who_name)
        return replace(self, events=events)

    def restated(self, by: timedelta) -> "ParentIncident":
        """Return the same parent after a clock step of so much."""
        return replace(
            self,
            opened_at=self.opened_at + by,
            joined_at=self.joined_at + by,
            counted_at=self.counted_at and self.counted_at + by,
            grew_at=self.grew_at and self.grew_at + by,
            announced=self.announced and replace(self.announced, at=self.announced.at + by),
            acknowledged_at=self.acknowledged_at and self.acknowledged_at + by,
            resolved_at=self.resolved_at and self.resolved_at + by,
            reopened_at=self.reopened_at and self.reopened_at + by,
            events=tuple(replace(event, at=event.at + by) for event in self.events),
        )
