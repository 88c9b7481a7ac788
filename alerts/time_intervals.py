"""Time intervals: recurring times of the calendar of a time zone, with Alertmanager's meaning. Pure.

Routes are muted by them; maintenance windows and quiet hours are the same type. A time of day is what the clocks of
the zone show: an hour that a clock skips has no moment, and one that it shows twice has twice as many.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

DAY = 24 * 60  # minutes
LOOKS_AHEAD = 800  # days: a leap day is found, and one of a year in the far future is not

WEEKDAYS = ("sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday")
MONTHS = (
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
)
_CLOCK = re.compile(r"(?:([01]\d|2[0-3]):([0-5]\d)|24:00)")

Extent = tuple[int, int]  # the first and the last of a range; of minutes the one after the last


@dataclass(frozen=True, slots=True, kw_only=True)
class TimePeriod:
    """The moments that fit every field that is given. Ranges of one field are alternatives; an empty field fits always.

    `weekdays`: Sunday is 0. `days_of_month`: -1 is the last day. `times`: minutes of the day, without the last.
    """

    times: tuple[Extent, ...] = ()
    weekdays: tuple[Extent, ...] = ()
    days_of_month: tuple[Extent, ...] = ()
    months: tuple[Extent, ...] = ()
    years: tuple[Extent, ...] = ()
    location: str = "UTC"

    def contains(self, moment: datetime) -> bool:
        """Whether the clocks and calendars of the zone show one of its times at this moment."""
        local = moment.astimezone(ZoneInfo(self.location))
        minute = local.hour * 60 + local.minute
        return self.has_day(local.date()) and (
            not self.times or any(start <= minute < end for start, end in self.times)
        )

    def has_day(self, day: date) -> bool:
        """Whether any time of the day may be one of its times."""
        return (
            _fits(self.years, day.year)
            and _fits(self.months, day.month)
            and _fits(self.weekdays, day.isoweekday() % 7)
            and (not self.days_of_month or any(_has_day(span, day) for span in self.days_of_month))
        )

    def edges(self, day: date) -> Iterator[datetime]:
        """Yield the moments of a local day, in UTC, at which it may begin or end; some may be of the next day."""
        zone = ZoneInfo(self.location)
        midnight = datetime(day.year, day.month, day.day)  # noqa: DTZ001 - a time that a clock shows
        for minute in {0, DAY, *(edge for span in self.times for edge in span)}:
            shown = midnight + timedelta(minutes=minute)
            for fold in (0, 1):
                yield shown.replace(tzinfo=zone, fold=fold).astimezone(UTC)
        yield from _clock_changes(midnight, zone)


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeInterval:
    """A named set of times: those of any of its periods."""

    name: str
    periods: tuple[TimePeriod, ...]

    def contains(self, moment: datetime) -> bool:
        return any(period.contains(moment) for period in self.periods)

    def changes_after(self, moment: datetime) -> datetime | None:
        """Return when it next begins or ends; None if it does not within two years."""
        now = self.contains(moment)
        for days in range(-1, LOOKS_AHEAD):
            edges: set[datetime] = set()
            for period in self.periods:
                day = moment.astimezone(ZoneInfo(period.location)).date() + timedelta(days=days)
                edges.update(edge for edge in period.edges(day) if edge > moment)
            # Edges of other zones may lie up to a day later than those of the next day looked at: so judge in order.
            for edge in sorted(edges):
                if self.contains(edge) != now:
                    return self._first_change(moment, edge, now)
        return None

    def _first_change(self, since: datetime, found: datetime, now: bool) -> datetime:
        """Return the first change up to the one that was found, as periods have days of different zones."""
        edges = {
            edge
            for period in self.periods
            for days in range(-1, (found - since).days + 3)
            for edge in period.edges(
                since.astimezone(ZoneInfo(period.location)).date() + timedelta(days=days)
            )
            if since < edge <= found
        }
        return next(edge for edge in sorted(edges) if self.contains(edge) != now)


def _fits(spans: Sequence[Extent], value: int) -> bool:
    return not spans or any(first <= value <= last for first, last in spans)


def _has_day(span: Extent, day: date) -> bool:
    """Whether the days of a month have this one, as Alertmanager counts: past its last day is its last."""
    after = date(day.year + day.month // 12, day.month % 12 + 1, 1) if day.year < date.max.year else date.max
    length = (after - date(day.year, day.month, 1)).days
    first, last = (length + number + 1 if number < 0 else number for number in span)
    return first <= day.day <= min(last, length)


def _clock_changes(midnight: datetime, zone: ZoneInfo) -> Iterator[datetime]:
    """Yield the moment of a day at which its clocks are set."""
    start = midnight.replace(tzinfo=zone).astimezone(UTC)
    end = (midnight + timedelta(days=1)).replace(tzinfo=zone).astimezone(UTC)
    before = start.astimezone(zone).utcoffset()
    if before == end.astimezone(zone).utcoffset():
        return
    low, high = int(start.timestamp()), int(end.timestamp())
    while high - low > 1:
        middle = (low + high) // 2
        is_before = datetime.fromtimestamp(middle, zone).utcoffset() == before
        low, high = (middle, high) if is_before else (low, middle)
    yield datetime.fromtimestamp(high, UTC)


# Written forms, as in Alertmanager's configuration. Each raises ValueError with what is wrong.


def read_period(
    *,
    times: Iterable[tuple[str | int, str | int]] = (),
    weekdays: Iterable[str | int] = (),
    days_of_month: Iterable[str | int] = (),
    months: Iterable[str | int] = (),
    years: Iterable[str | int] = (),
    location: str = "UTC",
) -> TimePeriod:
    """Return the period that is written so: `monday:friday`, `1:5`, `-3:-1`, `may:august`, `2026:2027`, `09:00`."""
    try:
        ZoneInfo(location)
    except (KeyError, ValueError, OSError) as error:
        raise ValueError(f"`{location}` is not a time zone, such as Europe/Berlin") from error
    return TimePeriod(
        times=tuple(_times(start, end) for start, end in times),
        weekdays=tuple(_span(one, "weekday", _named(WEEKDAYS, 0)) for one in weekdays),
        days_of_month=tuple(_days(one) for one in days_of_month),
        months=tuple(_span(one, "month", _named(MONTHS, 1)) for one in months),
        years=tuple(_span(one, "year", int) for one in years),
        location=location,
    )


def _times(start: str | int, end: str | int) -> Extent:
    first, last = _minute(start), _minute(end)
    if first >= last:
        raise ValueError(
            f"`{start}` is not before `{end}`: write a time over midnight as two, up to 24:00 and from 00:00"
        )
    return first, last


def _minute(written: str | int) -> int:
    """Return the minute of the day. YAML reads an unquoted 17:30 as the number 1050, which is that."""
    if isinstance(written, int):
        if not 0 <= written <= DAY:
            raise ValueError(f"`{written}` is not a time of day, such as 17:30")
        return written
    match = _CLOCK.fullmatch(written)
    if match is None:
        raise ValueError(f"`{written}` is not a time of day, such as 17:30")
    return DAY if match[1] is None else int(match[1]) * 60 + int(match[2])


def _named(names: Sequence[str], first: int) -> Callable[[str], int]:
    numbers: Mapping[str, int] = {name: number for number, name in enumerate(names, start=first)}

    def read(written: str) -> int:
        if written in numbers:
            return numbers[written]
        number = int(written)
        if first == 0 or number not in numbers.values():  # weekdays have names only
            raise ValueError(written)
        return number

    return read


def _span(written: str | int, kind: str, read: Callable[[str], int]) -> Extent:
    first, _, last = str(written).strip().lower().partition(":")
    try:
        span = read(first), read(last or first)
    except ValueError as error:
        raise ValueError(f"`{written}` is not a {kind}, or a range of them") from error
    if span[0] > span[1]:
        raise ValueError(f"`{written}` ends before it begins: write two ranges")
    return span


def _days(written: str | int) -> Extent:
    first, _, last = str(written).strip().partition(":")
    try:
        span = int(first), int(last or first)
    except ValueError as error:
        raise ValueError(f"`{written}` is not a day of the month, or a range of them") from error
    if not all(1 <= abs(number) <= 31 for number in span):
        raise ValueError(f"`{written}`: days are 1 to 31, or -1 for the last to -31")
    if span[0] < 0 < span[1]:
        raise ValueError(f"`{written}`: a range that begins at the end of the month ends there")
    if (span[0] < 0) == (span[1] < 0) and span[0] > span[1]:
        raise ValueError(f"`{written}` ends before it begins")
    return span
