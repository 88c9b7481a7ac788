"""This file has an alert's life: pending, firing, resolved, exactly as in Prometheus. All its transitions are here."""

from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum

from alerts.rules import Timing


class AlertState(StrEnum):
    PENDING = "pending"
    FIRING = "firing"
    RESOLVED = "resolved"


class Verdict(StrEnum):
    """What one look says of one alert."""

    ACTIVE = "breach"
    INACTIVE = "clear"
    UNKNOWN = "blind"


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertLife:
    """Where an alert stands: `since` its condition holds without a gap; `quiet_since` it stopped, if it did."""

    state: AlertState
    since: datetime
    fired_at: datetime | None = None
    inactive_since: datetime | None = None
    resolved_at: datetime | None = None


def advance(life: AlertLife | None, verdict: Verdict, timing: Timing, now: datetime) -> AlertLife | None:
    """The life after this verdict, or None when there is none. A resolved life is over: a breach starts a new one."""
    if life is not None and life.state is AlertState.RESOLVED:
        life = None
    match verdict, life:
        case Verdict.UNKNOWN, _:
            return life
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
