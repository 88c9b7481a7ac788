"""Methods of times and durations in templates, and Go's time layouts."""

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from go_templates.printing import moment_in_words, span_in_words
from go_templates.values import GoDuration, Time, Value

_PARTS: dict[str, Callable[[datetime], str]] = {
    "January": lambda when: f"{when:%B}",
    "Jan": lambda when: f"{when:%b}",
    "Monday": lambda when: f"{when:%A}",
    "Mon": lambda when: f"{when:%a}",
    "MST": lambda _when: "UTC",
    "2006": lambda when: f"{when.year:04d}",
    "-07:00": lambda _when: "+00:00",
    "-0700": lambda _when: "+0000",
    "-07": lambda _when: "+00",
    "Z07:00": lambda _when: "Z",
    "Z0700": lambda _when: "Z",
    "002": lambda when: f"{when:%j}",
    "01": lambda when: f"{when.month:02d}",
    "02": lambda when: f"{when.day:02d}",
    "_2": lambda when: f"{when.day:2d}",
    "03": lambda when: f"{(when.hour % 12) or 12:02d}",
    "04": lambda when: f"{when.minute:02d}",
    "05": lambda when: f"{when.second:02d}",
    "06": lambda when: f"{when.year % 100:02d}",
    "15": lambda when: f"{when.hour:02d}",
    "PM": lambda when: "PM" if when.hour >= 12 else "AM",
    "pm": lambda when: "pm" if when.hour >= 12 else "am",
    "1": lambda when: str(when.month),
    "2": lambda when: str(when.day),
    "3": lambda when: str((when.hour % 12) or 12),
    "4": lambda when: str(when.minute),
    "5": lambda when: str(when.second),
}
_FRACTION = r"[.,](?:0+|9+)(?!\d)"
_LAYOUT = re.compile("|".join([_FRACTION, *_PARTS]))


def formatted(moment: Time, layout: str) -> str:
    """Format a time with a layout of Go's time package: `2006-01-02 15:04`."""
    when = _datetime(moment)
    fraction = f"{moment.nanoseconds % 1_000_000_000:09d}"

    def part(match: re.Match[str]) -> str:
        text = match.group()
        if text[0] not in ".,":
            return _PARTS[text](when)
        digits = fraction[: len(text) - 1].ljust(len(text) - 1, "0")
        kept = digits if text[1] == "0" else digits.rstrip("0")
        return text[0] + kept if kept else ""

    return _LAYOUT.sub(part, layout)


def method(value: Time | GoDuration, name: str) -> Callable[..., Value] | None:
    """Return the method of a time or a duration by its Go name, or None."""
    return (_of_moment(value) if isinstance(value, Time) else _of_span(value)).get(name)


def _of_moment(moment: Time) -> dict[str, Callable[..., Value]]:
    seconds, rest = divmod(moment.nanoseconds, 1_000_000_000)
    return {
        "Format": lambda layout: formatted(moment, layout),
        "String": lambda: moment_in_words(moment),
        "UTC": lambda: moment,
        "Unix": lambda: seconds,
        "UnixMilli": lambda: moment.nanoseconds // 1_000_000,
        "UnixNano": lambda: moment.nanoseconds,
        "Year": lambda: _datetime(moment).year,
        "Month": lambda: f"{_datetime(moment):%B}",
        "Day": lambda: _datetime(moment).day,
        "Hour": lambda: _datetime(moment).hour,
        "Minute": lambda: _datetime(moment).minute,
        "Second": lambda: _datetime(moment).second,
        "Nanosecond": lambda: rest,
        "Weekday": lambda: f"{_datetime(moment):%A}",
        "YearDay": lambda: _datetime(moment).timetuple().tm_yday,
    }


def _of_span(span: GoDuration) -> dict[str, Callable[..., Value]]:
    return {
        "String": lambda: span_in_words(span),
        "Hours": lambda: span.seconds / 3600,
        "Minutes": lambda: span.seconds / 60,
        "Seconds": lambda: span.seconds,
        "Milliseconds": lambda: span.nanoseconds // 1_000_000,
        "Nanoseconds": lambda: span.nanoseconds,
    }


def _datetime(moment: Time) -> datetime:
    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=moment.nanoseconds // 1000)
