"""The state of one rule in the rule loop: its alerts, when it is due, what it missed, and what it asks."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from math import ceil

from alerts.alert import Alert
from alerts.rules import Rule
from collectors.facts.labels import AlertKey
from collectors.facts.queries import CheckQuery, PromQLQuery, Query

MAX_MISSED = 120  # evaluations per rule that are backfilled after blindness
MAX_UNCERTAIN = timedelta(minutes=10)  # after a hole: of a longer window it is a small part


@dataclass(slots=True)
class RuleState:
    """The state of one rule. `missed`: the evaluation times at which its query was not answered. `evaluated`: the
    last evaluation time that was answered, or given up.

    `is_proven`: its whole query was answered once, so a broken presence query is found at the start. `has_lost`: the
    last result was without one of the alerts.
    """

    alerts: Mapping[AlertKey, Alert] = field(default_factory=dict)
    due: datetime | None = None
    missed: list[datetime] = field(default_factory=list)
    evaluated: datetime | None = None
    tries: int = 0  # cycles in which the backfill failed
    is_proven: bool = False
    has_lost: bool = False
    hole: datetime | None = None  # the last evaluation time at which nobody could see

    def is_certain(self, query: Query, at: datetime) -> bool:
        """Whether what the query does not return is over: its window, which ends at `at`, has no hole."""
        window = min(query.window, MAX_UNCERTAIN) if isinstance(query, PromQLQuery) else timedelta()
        return self.hole is None or at >= self.hole + window

    def query_of(self, rule: Rule) -> Query:
        """Return the rule's query, without presence where that is likely not needed."""
        is_likely = not self.is_proven or self.missed or (self.alerts and self.has_lost)
        if isinstance(rule.query, PromQLQuery) and not is_likely:
            return rule.query.without_presence()
        return rule.query

    def miss(self, at: datetime) -> None:
        """Remember an evaluation time at which the query was not answered."""
        self.missed = [*self.missed, at][-MAX_MISSED:]

    def again(self, interval: timedelta) -> None:
        """Be due at once, at the evaluation time that was taken last."""
        self.due = self.due and self.due - interval

    def catch_up(self, interval: timedelta, now: datetime) -> None:
        """Remember the evaluation times that have passed unused, but for the last, at which the rule is due."""
        while self.due is not None and self.due + interval <= now:
            self.miss(self.due)
            self.due += interval

    def restate(self, by: timedelta) -> None:
        """Move every moment by a clock step of so much: `for`, intervals and backfills continue."""
        self.due = self.due and self.due + by
        self.evaluated = self.evaluated and self.evaluated + by
        self.missed = [moment + by for moment in self.missed]
        self.hole = self.hole and self.hole + by
        self.alerts = {key: alert.restated(by) for key, alert in self.alerts.items()}


def missed_since(rule: Rule, evaluated: datetime, now: datetime) -> list[datetime]:
    """Return the times since then at which the rule was due, at most the newest MAX_MISSED."""
    if isinstance(rule.query, CheckQuery):
        return []
    count = ceil((now - evaluated) / rule.interval) - 1  # `now` itself is not missed
    return [evaluated + step * rule.interval for step in range(max(1, count - MAX_MISSED + 1), count + 1)]


def next_moment(due: datetime, interval: timedelta, now: datetime) -> datetime:
    """Return the next time on the rule's own grid that is after `now`."""
    steps = (now - due) // interval + 1
    return due + steps * interval
