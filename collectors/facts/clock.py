"""Clocks, and durations in the notation of Prometheus: 90s, 1h30m, 7d."""

import re
import time
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Protocol

STEP = timedelta(seconds=1)  # less is the clock's own drift
LARGE_STEP = timedelta(minutes=5)
REPORTED_FOR = timedelta(minutes=15)


class Clock(Protocol):
    """The wall clock, for people and for what outlives the process, and a monotonic clock for durations within it."""

    def now(self) -> datetime:
        """Return the wall clock's time, aware and in UTC. It may step, back or forward."""
        ...

    def elapsed(self) -> timedelta:
        """Return the monotonic clock's time since a fixed moment. Only differences are meaningful."""
        ...


class SystemClock:
    """The system's clocks."""

    def now(self) -> datetime:
        return datetime.now(UTC)  # noqa: TID251  the only place that reads it

    def elapsed(self) -> timedelta:
        return timedelta(seconds=time.monotonic())


@dataclass(frozen=True, slots=True, kw_only=True)
class ClockStep:
    """A step of the wall clock by so much, forward or (negative) back, noticed at this new time."""

    by: timedelta
    at: datetime


class ClockSteps:
    """Notices steps of the wall clock by comparing it with the monotonic clock."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._origin = self._measured()
        self._last: tuple[ClockStep, timedelta] | None = None

    def taken(self) -> timedelta:
        """Return by how much the clock stepped since the last call; zero for less than a second."""
        origin = self._measured()
        by = origin - self._origin
        if abs(by) < STEP:
            return timedelta()
        self._origin = origin
        if abs(by) >= LARGE_STEP:
            self._last = ClockStep(by=by, at=self._clock.now()), self._clock.elapsed()
        return by

    def recent(self) -> ClockStep | None:
        """Return the last large step, for a quarter of an hour."""
        if self._last is None or self._clock.elapsed() - self._last[1] > REPORTED_FOR:
            return None
        return self._last[0]

    def _measured(self) -> datetime:
        """Return the wall clock's time at the fixed moment."""
        return self._clock.now() - self._clock.elapsed()


_UNITS = {
    "y": 365 * 86_400_000,
    "w": 7 * 86_400_000,
    "d": 86_400_000,
    "h": 3_600_000,
    "m": 60_000,
    "s": 1000,
    "ms": 1,
}
_LONGEST = 100 * _UNITS["y"]  # so that adding it to a datetime, or subtracting it, cannot overflow
# For schemas: "0" aside.
DURATION_SHAPE = r"^([0-9]+y)?([0-9]+w)?([0-9]+d)?([0-9]+h)?([0-9]+m)?([0-9]+s)?([0-9]+ms)?$"
_SHAPE = re.compile(
    r"^(?:(?P<y>\d+)y)?(?:(?P<w>\d+)w)?(?:(?P<d>\d+)d)?(?:(?P<h>\d+)h)?(?:(?P<m>\d+)m)?(?:(?P<s>\d+)s)?(?:(?P<ms>\d+)ms)?$"
)


def duration(text: str) -> timedelta:
    """Parse a duration. Raises ValueError that names the text and shows examples."""
    shape = _SHAPE.match(text)
    if text == "0":
        return timedelta()
    if not text or shape is None:
        raise ValueError(f"`{text}` is not a duration: write it like 30s, 5m, 1h30m or 7d")
    total = sum(int(count) * _UNITS[unit] for unit, count in shape.groupdict().items() if count)
    if total > _LONGEST:
        raise ValueError(f"`{text[:40]}` is too long a duration: 100y at most")
    return timedelta(milliseconds=total)


def moment_of(seconds: float) -> datetime | None:
    """Return the time of a Unix timestamp in seconds; None if it is NaN, infinite or out of range."""
    try:
        return datetime.fromtimestamp(seconds, UTC)
    except (OverflowError, ValueError, OSError):
        return None


def humanize(span: timedelta, *, parts: int = 2) -> str:
    """Return a duration for people: `3 min`, `2 h 5 min`, `1 d 4 h`; the largest units, two by default."""
    seconds = max(0, round(span.total_seconds()))
    if seconds == 0:
        return "0 s"
    words: list[str] = []
    for unit, size in (("d", 86_400), ("h", 3600), ("min", 60), ("s", 1)):
        count, seconds = divmod(seconds, size)
        if count:
            words.append(f"{count} {unit}")
        elif words:
            break
    return " ".join(words[:parts])


def format_duration(span: timedelta) -> str:
    """Return a duration as Prometheus prints it: `1h30m`, `90s` as `1m30s`."""
    rest = round(span.total_seconds() * 1000)
    if rest == 0:
        return "0s"
    out = ""
    for unit, size in _UNITS.items():
        if unit in ("y", "w"):  # as in Prometheus: years and weeks only without a remainder
            if rest % size == 0:
                return f"{rest // size}{unit}"
            continue
        count, rest = divmod(rest, size)
        if count:
            out += f"{count}{unit}"
    return out
