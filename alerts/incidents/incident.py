"""The incident: one broken object, the alerts about it, and its history."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from alerts.incidents.events import IncidentEvent, IncidentEventType, with_next
from alerts.incidents.evidence import Evidence, Proven
from alerts.incidents.totals import Totals
from alerts.lifecycle import AlertState
from alerts.rules import Consequence, ImpactScope, Proof, ResolveWhen, Severity
from alerts.store import stored
from collectors.facts.subjects import Subject
from collectors.facts.xid_catalogue import Recovery

CALLS = frozenset(  # for somebody to acknowledge it
    {
        IncidentEventType.OPENED,
        IncidentEventType.SEVERITY_RAISED,
        IncidentEventType.WORSENED,
        IncidentEventType.GIVEN_BACK,
        IncidentEventType.REMINDED,
        IncidentEventType.REOPENED,
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """An alert as its incident stores it, with its last summary, description and texts.

    `headline` and `resolved_headline` have {placeholders} of the group of alerts; see cards/headline.py.
    """

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
    moved_to: str = ""  # id of the incident that has the alert from then on
    headline: str = ""
    resolved_headline: str = ""
    is_logged: bool = False  # found in a log: it has not recovered when its line leaves the window
    is_worse: bool = False  # what stands beside it makes it critical
    consequence: Consequence | None = None  # for people's work, if it is critical
    foreseen: Consequence | None = None  # the same of one that is not critical, if nobody does something
    scope: ImpactScope = ImpactScope.SUBJECT
    labels: Mapping[str, str] = field(default_factory=dict)  # of one that is logged, or needs a proof
    proofs: tuple[Proof, ...] = ()  # any of them ends it, and a person's word; empty: its own end does
    evidence: Evidence | None = None
    proven: Proven | None = None
    xid: int = 0  # the XID that it is about
    recovery: Recovery | None = None  # what that XID calls for
    # The same alert from a sender is no member of its own: this one fires as long as either does.
    twin: str = ""  # Alert.id
    twin_fires: bool = False
    is_twin_alone: bool = False  # only the sender says so: our own rule does not fire
    ladder: str = ""  # of one whose rule is of a ladder: that, and the series that it is about

    @property
    def is_firing(self) -> bool:
        return self.state is AlertState.FIRING

    @property
    def is_unseen(self) -> bool:
        """Whether its target has no data now: it keeps its state, and what proves that its fault is over ends it."""
        return self.unseen_since is not None

    @property
    def gravity(self) -> int:
        """How bad it is: 1 for info to 3 for critical, 4 if work is in danger, 5 if it is lost."""
        return self.severity.rank + self._stake

    @property
    def _stake(self) -> int:
        return self.consequence.rank if self.consequence is not None else int(self.is_worse)

    @property
    def weight(self) -> tuple[int, int, int, bool]:
        """How much it explains: the worst for people's work first, whatever fired later, then the more severe.

        It explains more than another of its severity if it will be worse, if its XID calls for more, or if it is
        described.
        """
        return (
            self._stake,
            self.severity.rank,
            (self.foreseen.rank if self.foreseen else 0) + (self.recovery.rank if self.recovery else 0),
            bool(self.description),
        )

    def restated(self, by: timedelta) -> "Member":
        """Return the same alert after a clock step of so much."""
        return replace(
            self,
            since=self.since + by,
            resolved_at=self.resolved_at and self.resolved_at + by,
            unseen_since=self.unseen_since and self.unseen_since + by,
            evidence=self.evidence and self.evidence.restated(by),
            proven=self.proven and self.proven.restated(by),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Impact:
    """A training or workload that the incident concerns. `gpus` are those that it held; `failed_at`: it died of it.

    `is_on_gpu`: for alerts about a GPU, whether it runs on it; if not, it is only known to hold GPUs of the node.
    """

    training: str  # its key
    name: str = ""  # as people read it
    owner: str = ""
    team: str = ""
    gpus: float = 0
    scope: ImpactScope = ImpactScope.SUBJECT
    is_named: bool = False  # a log line of the incident names it
    is_on_gpu: bool | None = None  # None: an alert concerns it that is not about a GPU
    failed_at: datetime | None = None

    @property
    def shown(self) -> str:
        return self.name or self.training


def _floats(incident: "Incident") -> Iterable[float]:
    yield from (member.value for member in incident.members)
    yield from (impact.gpus for impact in incident.impacts)


class Endable:
    """What is open until it is resolved."""

    __slots__ = ()
    resolved_at: datetime | None

    @property
    def is_open(self) -> bool:
        return self.resolved_at is None

    @property
    def state(self) -> str:
        """Indexed in the store: open or resolved."""
        return "open" if self.is_open else "resolved"


@stored(
    "incidents",
    "cluster",
    "state",
    "group_key",
    "resolved_at",
    "parent",
    "unanswered_since",
    over=lambda incident: incident.resolved_at,
    floats=_floats,
)
@dataclass(frozen=True, slots=True, kw_only=True)
class Incident(Endable):
    """One broken object. `group_key` names it and never changes."""

    id: str
    cluster: str
    group_key: str
    subject: Subject
    opened_at: datetime
    severity: Severity  # the highest of the firing alerts; once resolved, the last such
    channels: tuple[str, ...] = ()
    members: tuple[Member, ...] = ()  # as stored, the first of many: see member_rows.py
    impacts: tuple[Impact, ...] = ()
    events: tuple[IncidentEvent, ...] = ()
    resolve_when: ResolveWhen = ResolveWhen.CLEARED
    acknowledged_by: str = ""
    acknowledged_by_name: str = ""
    acknowledged_at: datetime | None = None
    resolved_at: datetime | None = None
    fixed_by: tuple[
        str, ...
    ] = ()  # ids of the plans run for it since it was opened or reopened, oldest first
    reopened_at: datetime | None = None  # the last time
    times: int = 1  # how often it was opened or reopened
    stood_before: timedelta = timedelta()  # how long it was open before it was last reopened, in all
    dependants: int = 0  # trainings of the cluster, if all of them depend on the subject
    gpus: int = 0  # of the node that it is about
    earlier: str = ""  # id of the last incident of the same object, if that one was not reopened
    earlier_ended_at: datetime | None = None
    is_repeat: bool = False  # the earlier one was opened by the same rule
    parent: str = ""  # id of the incident of many nodes that it is a part of, and keeps being
    crash_of: str = ""  # the training whose nodes all reported the same XID
    is_crowded: bool = False  # it has as many alerts as it may have, and others were left out
    totals: Totals | None = None  # of all its alerts, where `members` has only the first of them

    @property
    def unanswered_since(self) -> datetime | None:
        """Indexed in the store: since when, or since which reminder, a critical incident waits for somebody.

        One with a parent does not: its parent does.
        """
        if not self.is_open or self.parent or self.acknowledged_by or self.severity is not Severity.CRITICAL:
            return None
        return max((event.at for event in self.events if event.type in CALLS), default=self.opened_at)

    @property
    def version(self) -> tuple[int, datetime | None]:
        """Changes whenever something happens to the incident; not when a value on it is refreshed."""
        return (self.events[-1].number if self.events else 0, self.resolved_at)

    @property
    def gravity(self) -> int:
        """How bad it is: 1 for info to 3 for critical, 4 once work is in danger, 5 once it is lost."""
        return max(self.severity.rank, self.lead.gravity)

    @property
    def alerts(self) -> int:
        """How many alerts it has, also those that this copy does not hold."""
        return len(self.members) if self.totals is None else self.totals.members

    @property
    def firing(self) -> tuple[Member, ...]:
        """The firing alerts, most severe and oldest first."""
        live = (member for member in self.members if member.is_firing)
        return tuple(sorted(live, key=lambda member: (-member.severity.rank, member.since, member.name)))

    @property
    def began_at(self) -> datetime:
        """When it was opened, or reopened the last time."""
        return self.reopened_at or self.opened_at

    def stands(self, member: Member) -> bool:
        """Whether the alert still explains the incident: it fires, or it was logged and nothing proves it over."""
        if member.is_firing or self.needs_proof(member):
            return True
        return self.is_open and member.is_logged and member.proven is None and self._is_current(member)

    def needs_proof(self, member: Member) -> bool:
        """Whether the end of the alert does not end its fault, and nothing has proved yet that it is over.

        A training that crashed on all its nodes left nothing broken there.
        """
        if self.crash_of or not member.proofs or member.proven is not None or member.ended_reason:
            return False
        return self.is_open and (member.is_firing or self._is_current(member))

    def awaits_proof(self, member: Member) -> bool:
        """Whether the alert no longer fires, and nothing has proved yet that its fault is over."""
        return not member.is_firing and self.needs_proof(member)

    @property
    def unproven(self) -> tuple[Member, ...]:
        """The alerts that need a proof and have none yet, those that explain most first."""
        return tuple(member for member in self.standing if self.needs_proof(member))

    @property
    def is_only_unproven(self) -> bool:
        """Whether it is open only because a proof is missing: no alert fires whose target has data."""
        if any(not member.is_unseen for member in self.firing):
            return False
        return any(self.needs_proof(member) for member in self.members)

    def _is_current(self, member: Member) -> bool:
        """Whether the alert ended since the incident was opened, or reopened the last time."""
        return (member.resolved_at or member.since) >= self.began_at

    @property
    def standing(self) -> tuple[Member, ...]:
        """The alerts that stand, those that explain most and then the oldest first."""
        return tuple(sorted(filter(self.stands, self.members), key=explains_most))

    @property
    def lead(self) -> Member:
        """The alert that names the incident: what explains most of those that stand, or of all if none does."""
        standing = min(filter(self.stands, self.members), key=explains_most, default=None)
        return standing or min(self.members, key=explains_most)

    def with_event(
        self, type: IncidentEventType, at: datetime, *, text: str = "", who: str = "", who_name: str = ""
    ) -> "Incident":
        events = with_next(self.events, type, at, text=text, who=who, who_name=who_name)
        return replace(self, events=events)

    def restated(self, by: timedelta) -> "Incident":
        """Return the same incident after a clock step of so much."""
        return replace(
            self,
            opened_at=self.opened_at + by,
            acknowledged_at=self.acknowledged_at and self.acknowledged_at + by,
            resolved_at=self.resolved_at and self.resolved_at + by,
            reopened_at=self.reopened_at and self.reopened_at + by,
            earlier_ended_at=self.earlier_ended_at and self.earlier_ended_at + by,
            members=tuple(member.restated(by) for member in self.members),
            events=tuple(replace(event, at=event.at + by) for event in self.events),
        )

    def lasted(self, now: datetime) -> timedelta:
        """Return how long it stood in all; the time between its end and its next beginning does not count."""
        return self.stood_before + (self.resolved_at or now) - self.began_at


def explains_most(member: Member) -> tuple[int, int, int, bool, float, str]:
    """The order of alerts that explain an incident: what weighs most, then the oldest."""
    stake, rank, recovery, is_described = member.weight
    return -stake, -rank, -recovery, not is_described, member.since.timestamp(), member.name
