"""The life of an alert: pending, firing, resolved, exactly as in Prometheus. All transitions are here."""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum

from alerts.rules import Timing


class AlertState(StrEnum):
    PENDING = "pending"
    FIRING = "firing"
    RESOLVED = "resolved"


class Verdict(StrEnum):
    """The outcome of one evaluation for one alert. UNCERTAIN: nobody can say, or inactive by data with a hole."""

    ACTIVE = "active"
    INACTIVE = "inactive"
    UNKNOWN = "unknown"
    UNCERTAIN = "uncertain"


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertLife:
    """An alert's state. `since`: the condition is active without a gap since then. `inactive_since`: when it ended."""

    state: AlertState
    since: datetime
    fired_at: datetime | None = None
    inactive_since: datetime | None = None
    resolved_at: datetime | None = None

    def restated(self, by: timedelta) -> "AlertLife":
        """Return the same life after a clock step of so much."""
        return AlertLife(
            state=self.state,
            since=self.since + by,
            fired_at=self.fired_at and self.fired_at + by,
            inactive_since=self.inactive_since and self.inactive_since + by,
            resolved_at=self.resolved_at and self.resolved_at + by,
        )


def advance(life: AlertLife | None, verdict: Verdict, timing: Timing, now: datetime) -> AlertLife | None:
    """Return the alert's life after this verdict, or None for no alert. A resolved alert starts a new life."""
    if life is not None and life.state is AlertState.RESOLVED:
        life = None
    if life is not None and max(life.since, life.inactive_since or life.since) > now:
        # The clock stepped back between two processes: the alert must not wait until it has caught up.
        inactive = life.inactive_since and min(life.inactive_since, now)
        life = replace(life, since=min(life.since, now), inactive_since=inactive)
    match verdict, life:
        case Verdict.UNKNOWN, _:
            return life
        case Verdict.UNCERTAIN, _:  # it may have been active again, so what was quiet before does not count
            return life and replace(life, inactive_since=None)
        case Verdict.ACTIVE, None:
            return _fire_if_due(AlertLife(state=AlertState.PENDING, since=now), timing, now)
        case Verdict.ACTIVE, AlertLife():
            return _fire_if_due(replace(life, inactive_since=None), timing, now)
        case Verdict.INACTIVE, AlertLife(state=AlertState.FIRING):
            return _keep_firing(life, timing, now)
        case _:
            return None


def _fire_if_due(life: AlertLife, timing: Timing, now: datetime) -> AlertLife:
    if life.state is AlertState.PENDING and now - life.since >= timing.for_:
        return replace(life, state=AlertState.FIRING, fired_at=now)
    return life


def _keep_firing(life: AlertLife, timing: Timing, now: datetime) -> AlertLife:
    quiet_since = life.inactive_since or now
    if now - quiet_since >= timing.keep_firing_for:
        return replace(life, state=AlertState.RESOLVED, inactive_since=quiet_since, resolved_at=now)
    return replace(life, inactive_since=quiet_since)
