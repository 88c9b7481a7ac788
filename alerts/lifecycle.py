"""This file has an alert's life: pending, firing, resolved, exactly as in Prometheus. All its transitions are here."""

from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum

from alerts.rules import Patience


class Phase(StrEnum):
    PENDING = "pending"
    FIRING = "firing"
    RESOLVED = "resolved"


class Verdict(StrEnum):
    """What one look says of one alert."""

    BREACH = "breach"
    CLEAR = "clear"
    BLIND = "blind"


@dataclass(frozen=True, slots=True, kw_only=True)
class Life:
    """Where an alert stands: `since` its condition holds without a gap; `quiet_since` it stopped, if it did."""

    phase: Phase
    since: datetime
    fired_at: datetime | None = None
    quiet_since: datetime | None = None
    resolved_at: datetime | None = None


def advance(life: Life | None, verdict: Verdict, patience: Patience, now: datetime) -> Life | None:
    """The life after this verdict, or None when there is none. A resolved life is over: a breach starts a new one."""
    if life is not None and life.phase is Phase.RESOLVED:
        life = None
    match verdict, life:
        case Verdict.BLIND, _:
            return life
        case Verdict.BREACH, None:
            return _ripen(Life(phase=Phase.PENDING, since=now), patience, now)
        case Verdict.BREACH, Life():
            return _ripen(replace(life, quiet_since=None), patience, now)
        case Verdict.CLEAR, Life(phase=Phase.FIRING):
            return _linger(life, patience, now)
        case _:
            return None


def _ripen(life: Life, patience: Patience, now: datetime) -> Life:
    if life.phase is Phase.PENDING and now - life.since >= patience.hold:
        return replace(life, phase=Phase.FIRING, fired_at=now)
    return life


def _linger(life: Life, patience: Patience, now: datetime) -> Life:
    quiet_since = life.quiet_since or now
    if now - quiet_since >= patience.linger:
        return replace(life, phase=Phase.RESOLVED, quiet_since=quiet_since, resolved_at=now)
    return replace(life, quiet_since=quiet_since)
