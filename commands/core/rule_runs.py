"""The last evaluations of a cluster's rules."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from alerts.rules import Rule

_SLACK = timedelta(minutes=1)  # a cycle that backfills takes a while
_MISSED = 3  # evaluations that may fail to come


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleRun:
    """The last evaluation of one rule: how long its answer took, when it was answered, and why it is blind now."""

    took: timedelta = timedelta()
    evaluated: datetime | None = None
    blind: str = ""

    def is_slow(self, rule: Rule) -> bool:
        """Whether its answer takes longer than the time between two evaluations."""
        return self.took > rule.interval

    def is_overdue(self, rule: Rule, now: datetime) -> bool:
        """Whether it should have been evaluated some times since."""
        return self.evaluated is not None and now - self.evaluated > _MISSED * rule.interval + _SLACK
