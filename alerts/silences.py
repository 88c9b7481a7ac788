"""This file has silences: matchers with an end, a reason and an author."""

from dataclasses import dataclass
from datetime import datetime

from alerts.matching import Matcher, matches
from collectors.facts.labels import Labels


@dataclass(frozen=True, slots=True, kw_only=True)
class Silence:
    """Alerts that match all of `matchers` are seen and kept, but not told, from `starts_at` until `ends_at`."""

    id: str
    cluster: str
    matchers: tuple[Matcher, ...]
    starts_at: datetime
    ends_at: datetime
    by: str
    by_name: str = ""
    comment: str
    expired_at: datetime | None = None  # ended by somebody before its time

    def is_active(self, now: datetime) -> bool:
        return self.expired_at is None and self.starts_at <= now < self.ends_at

    def covers(self, labels: Labels, now: datetime) -> bool:
        return self.is_active(now) and matches(self.matchers, labels)
