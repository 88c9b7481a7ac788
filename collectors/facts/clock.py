"""This file reads and writes durations as Prometheus does: 90s, 1h30m, 7d."""

import re
from datetime import UTC, datetime, timedelta
from typing import Protocol


class Clock(Protocol):
    """Tells the time: an aware moment in UTC."""

    def now(self) -> datetime: ...


class SystemClock:
    """The machine's clock."""

    def now(self) -> datetime:
        return datetime.now(UTC)  # noqa: TID251  the one source


_UNITS = {
    "y": 365 * 86_400_000,
    "w": 7 * 86_400_000,
    "d": 86_400_000,
    "h": 3_600_000,
    "m": 60_000,
    "s": 1000,
    "ms": 1,
}
_LONGEST = 100 * _UNITS["y"]  # so that a moment that much later or earlier is one that can be told
_SHAPE = re.compile(
    r"^(?:(?P<y>\d+)y)?(?:(?P<w>\d+)w)?(?:(?P<d>\d+)d)?(?:(?P<h>\d+)h)?(?:(?P<m>\d+)m)?(?:(?P<s>\d+)s)?(?:(?P<ms>\d+)ms)?$"
)


def duration(text: str) -> timedelta:
    """Read a duration. Raises ValueError that names the text and shows what is meant."""
    shape = _SHAPE.match(text)
    if text == "0":
        return timedelta()
    if not text or shape is None:
        raise ValueError(f"`{text}` is not a duration: write it like 30s, 5m, 1h30m or 7d")
    total = sum(int(count) * _UNITS[unit] for unit, count in shape.groupdict().items() if count)
    if total > _LONGEST:
        raise ValueError(f"`{text[:40]}` is too long a duration: 100y at most")
    return timedelta(milliseconds=total)


def in_words(span: timedelta, *, parts: int = 2) -> str:
    """A duration for people: `3 min`, `2 h 5 min`, `1 d 4 h`; the two largest units unless told."""
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


def written(span: timedelta) -> str:
    """A duration as Prometheus writes it: `1h30m`, `90s` as `1m30s`."""
    rest = round(span.total_seconds() * 1000)
    if rest == 0:
        return "0s"
    out = ""
    for unit, size in _UNITS.items():
        if unit in ("y", "w"):  # as Prometheus: years and weeks only when nothing is left over
            if rest % size == 0:
                return f"{rest // size}{unit}"
            continue
        count, rest = divmod(rest, size)
        if count:
            out += f"{count}{unit}"
    return out
