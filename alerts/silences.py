"""Silences: matchers with an end, a comment and an author."""

from dataclasses import dataclass
from datetime import datetime

from alerts.incidents.incident import Incident
from alerts.matching import Matcher, matches
from alerts.parents.parent_incident import ParentIncident
from alerts.store import stored
from collectors.facts.labels import Labels


@stored("silences", "cluster", over=lambda silence: silence.expired_at or silence.ends_at)
@dataclass(frozen=True, slots=True, kw_only=True)
class Silence:
    """From `starts_at` until `ends_at`, alerts that match all `matchers` are recorded but do not notify.

    One of an `incident` has no matchers: it covers whatever belongs to the incident, also what joins it later, as
    long as the incident is no worse than its `gravity` was when somebody silenced it.
    `is_until_over`: it ends when the incident is resolved, and `ends_at` is its last moment.
    """

    id: str
    cluster: str
    matchers: tuple[Matcher, ...]
    starts_at: datetime
    ends_at: datetime
    by: str
    by_name: str = ""
    comment: str
    incident: str = ""
    gravity: int = 4  # of the incident then: what is graver is not covered
    is_until_over: bool = False
    expired_at: datetime | None = None  # when somebody ended it early
    there: str = ""  # its id in the Alertmanager that shares its silences, if it is there
    is_from_there: bool = False  # somebody added it there

    def is_active(self, now: datetime) -> bool:
        return self.expired_at is None and self.starts_at <= now < self.ends_at

    def is_over(self, now: datetime) -> bool:
        """Whether it has ended. One that has not begun is neither active nor over."""
        return self.expired_at is not None or self.ends_at <= now

    def covers(self, labels: Labels, now: datetime) -> bool:
        """Whether it covers an alert with these labels. One with an expression that cannot be read covers none."""
        try:
            return not self.incident and self.is_active(now) and matches(self.matchers, labels)
        except ValueError:
            return False

    def covers_incident(self, incident: Incident | ParentIncident, now: datetime) -> bool:
        """Whether it is a silence of this whole incident, or of its parent, as bad as it is."""
        is_its = bool(self.incident) and self.incident in (incident.id, incident.parent)
        return is_its and incident.gravity <= self.gravity and self.is_active(now)
