"""Time intervals: Alertmanager's ranges, time zones, and the hours that clocks skip or show twice."""

from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alerts.time_intervals import TimeInterval, TimePeriod, read_period

BERLIN = ZoneInfo("Europe/Berlin")
ZONES = ("UTC", "Europe/Berlin", "America/New_York", "Asia/Kolkata", "Australia/Lord_Howe", "Pacific/Apia")
# Days around a change of the clocks of one of these zones, and an ordinary one.
DAYS = ("2026-03-08", "2026-03-29", "2026-04-05", "2026-10-04", "2026-10-25", "2026-11-01", "2026-07-01")


def at(text: str, zone: str = "UTC") -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=ZoneInfo(zone)).astimezone(UTC)


def an_interval(*periods: TimePeriod) -> TimeInterval:
    return TimeInterval(name="hours", periods=periods)


@pytest.mark.parametrize(
    ("written", "inside", "outside"),
    [
        ({"weekdays": ["monday:friday"]}, "2026-11-27T23:59", "2026-11-28T00:00"),
        ({"weekdays": ["sunday"]}, "2026-11-29T12:00", "2026-11-30T12:00"),
        ({"times": [("09:00", "17:00")]}, "2026-11-24T09:00", "2026-11-24T17:00"),
        ({"times": [("22:00", "24:00"), ("00:00", "06:00")]}, "2026-11-24T23:59", "2026-11-24T06:00"),
        ({"times": [(1050, 1080)]}, "2026-11-24T17:45", "2026-11-24T17:29"),
        ({"days_of_month": ["1:5"]}, "2026-11-05T00:00", "2026-11-06T00:00"),
        ({"days_of_month": ["-3:-1"]}, "2028-02-27T00:00", "2028-02-26T00:00"),
        ({"days_of_month": ["25:-1"]}, "2026-02-28T00:00", "2026-02-24T00:00"),
        ({"days_of_month": ["31"]}, "2026-12-31T00:00", "2026-11-30T00:00"),
        ({"days_of_month": ["29:31"]}, "2028-02-29T00:00", "2026-02-28T00:00"),
        ({"months": ["may:august", "december"]}, "2026-12-01T00:00", "2026-09-01T00:00"),
        ({"months": ["1:3"]}, "2026-03-31T00:00", "2026-04-01T00:00"),
        ({"years": ["2026:2027", 2030]}, "2030-01-01T00:00", "2028-01-01T00:00"),
        ({"weekdays": ["Monday"], "times": [("09:00", "10:00")]}, "2026-11-23T09:30", "2026-11-24T09:30"),
        ({}, "2026-11-24T09:30", None),
    ],
)
def test_a_period_has_what_fits_every_field(
    written: dict[str, Any], inside: str, outside: str | None
) -> None:
    period = read_period(**written)
    assert period.contains(at(inside))
    assert outside is None or not period.contains(at(outside))


@pytest.mark.parametrize(
    ("written", "why"),
    [
        ({"weekdays": ["friday:monday"]}, "ends before it begins"),
        ({"weekdays": ["1:5"]}, "not a weekday"),
        ({"weekdays": ["mon"]}, "not a weekday"),
        ({"months": ["13"]}, "not a month"),
        ({"months": ["december:january"]}, "ends before it begins"),
        ({"days_of_month": ["0"]}, "days are 1 to 31"),
        ({"days_of_month": ["-3:5"]}, "begins at the end of the month"),
        ({"days_of_month": ["-1:-3"]}, "ends before it begins"),
        ({"days_of_month": ["x"]}, "not a day of the month"),
        ({"years": ["soon"]}, "not a year"),
        ({"times": [("17:00", "09:00")]}, "over midnight"),
        ({"times": [("9:00", "10:00")]}, "not a time of day"),
        ({"times": [("09:00", "25:00")]}, "not a time of day"),
        ({"times": [(-1, 5)]}, "not a time of day"),
        ({"location": "Europe/Nowhere"}, "not a time zone"),
        ({"location": "../../etc/passwd"}, "not a time zone"),
    ],
)
def test_what_is_no_period_is_refused_with_the_reason(written: dict[str, Any], why: str) -> None:
    with pytest.raises(ValueError, match=why):
        read_period(**written)


def test_an_hour_that_the_clocks_skip_has_no_moment() -> None:
    period = read_period(times=[("02:00", "03:00")], location="Europe/Berlin")
    midnight = at("2026-03-29T00:00", "Europe/Berlin")
    assert not any(period.contains(midnight + timedelta(minutes=n)) for n in range(6 * 60))


def test_an_hour_that_the_clocks_show_twice_lasts_two_hours() -> None:
    period = read_period(times=[("02:00", "03:00")], location="Europe/Berlin")
    midnight = at("2026-10-25T00:00", "Europe/Berlin")
    assert sum(period.contains(midnight + timedelta(minutes=n)) for n in range(6 * 60)) == 120


def test_working_hours_begin_at_the_same_time_of_the_clock_all_year() -> None:
    hours = an_interval(
        read_period(weekdays=["monday:friday"], times=[("09:00", "17:00")], location="Europe/Berlin")
    )
    assert hours.changes_after(at("2026-03-27T12:00")) == at("2026-03-27T16:00")
    assert hours.changes_after(at("2026-03-27T17:00")) == at("2026-03-30T07:00")
    assert hours.changes_after(at("2026-10-24T17:00")) == at("2026-10-26T08:00")


def test_what_never_begins_never_changes() -> None:
    assert an_interval(read_period(years=["1999"])).changes_after(at("2026-03-27T17:00")) is None
    assert an_interval(read_period()).changes_after(at("2026-03-27T17:00")) is None


@st.composite
def periods(draw: st.DrawFn) -> TimePeriod:
    def ranges(low: int, high: int) -> tuple[tuple[int, int], ...]:
        edges = st.tuples(st.integers(low, high), st.integers(low, high))
        return tuple(draw(st.lists(edges.map(sorted).map(tuple), max_size=2)))  # type: ignore[arg-type]

    times = tuple((first, last) for first, last in ranges(0, 24 * 4) if first < last)
    return TimePeriod(
        times=tuple((first * 15, last * 15) for first, last in times),
        weekdays=ranges(0, 6),
        location=draw(st.sampled_from(ZONES)),
    )


@given(st.lists(periods(), min_size=1, max_size=3), st.sampled_from(DAYS), st.integers(0, 24 * 60))
def test_the_next_change_is_the_first_minute_that_differs(
    of: list[TimePeriod], day: str, minute: int
) -> None:
    interval, start = an_interval(*of), at(day) + timedelta(minutes=minute)
    now = interval.contains(start)
    later = (start + timedelta(minutes=n) for n in range(1, 3 * 24 * 60))
    expected = next((moment for moment in later if interval.contains(moment) != now), None)
    found = interval.changes_after(start)
    if expected is None:
        assert found is None or found >= start + timedelta(days=2)
    else:
        assert found == expected


@given(periods(), st.sampled_from(DAYS), st.integers(0, 24 * 60))
def test_a_period_is_what_the_clocks_of_its_zone_show(period: TimePeriod, day: str, minute: int) -> None:
    moment = at(day) + timedelta(minutes=minute)
    shown = moment.astimezone(ZoneInfo(period.location))
    clock, weekday = shown.hour * 60 + shown.minute, (shown.weekday() + 1) % 7
    is_time = not period.times or any(first <= clock < last for first, last in period.times)
    is_day = not period.weekdays or any(first <= weekday <= last for first, last in period.weekdays)
    assert period.contains(moment) == (is_time and is_day)
