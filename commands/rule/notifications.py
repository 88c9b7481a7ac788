"""Notifications by rule: how often each rule called people lately, and how often somebody acted on it. Pure."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from alerts.cards.desired_cards import BROADCAST
from alerts.incidents.events import IncidentEventType
from alerts.incidents.incident import Incident, Member
from alerts.silences import Silence
from collectors.facts.labels import Labels

WEEK = timedelta(days=7)
NOISY_FROM = 5  # notifications in a week
NOISY_BELOW = 0.25  # the share that somebody acted on
_CALLS = BROADCAST | {IncidentEventType.OPENED}
_ACTS = frozenset(
    {IncidentEventType.ACKNOWLEDGED, IncidentEventType.HANDED_OVER, IncidentEventType.ACTION_DONE}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class NotificationCount:
    """The notifications about a rule's incidents in a week, and those of incidents that somebody acted on."""

    sent: int = 0
    acted: int = 0

    @property
    def is_noisy(self) -> bool:
        return self.sent >= NOISY_FROM and self.acted < NOISY_BELOW * self.sent


def notification_counts(
    incidents: Iterable[Incident], silences: Iterable[Silence], now: datetime
) -> Mapping[str, NotificationCount]:
    """Return the counts of the last week, by the rule's id.

    An incident counts for each rule whose alerts it has, as often as it called people: opened, reopened, or raised
    in severity. Somebody acted on it who acknowledged it, handed it over, proved it over, ran an action for it or
    silenced it.
    """
    silences = tuple(silences)
    sent, acted = Counter[str](), Counter[str]()
    for incident in incidents:
        calls = sum(event.type in _CALLS and now - event.at <= WEEK for event in incident.events)
        if not calls:
            continue
        is_acted = _is_acted_on(incident, silences)
        for rule in {member.rule for member in incident.members}:
            sent[rule] += calls
            acted[rule] += calls if is_acted else 0
    return {rule: NotificationCount(sent=count, acted=acted[rule]) for rule, count in sent.items()}


def _is_acted_on(incident: Incident, silences: Iterable[Silence]) -> bool:
    if any(event.type in _ACTS for event in incident.events) or incident.fixed_by:
        return True
    if any(event.type is IncidentEventType.PROVEN and event.who for event in incident.events):
        return True
    return any(_is_silenced_by(incident, silence) for silence in silences)


def _is_silenced_by(incident: Incident, silence: Silence) -> bool:
    """Whether somebody silenced the incident while it stood."""
    if silence.incident:
        return silence.incident == incident.id
    if incident.resolved_at is not None and silence.starts_at > incident.resolved_at:
        return False
    if silence.starts_at < incident.opened_at:
        return False
    return any(silence.covers(_labels(member), silence.starts_at) for member in incident.members)


def _labels(member: Member) -> Labels:
    """Return what is known of the alert's labels."""
    return Labels({**member.subject.words(), **member.labels, "alertname": member.name})
