"""Settings of whom an alert notifies, and when: routes, time intervals, inhibition."""

from pydantic import Field, model_validator

from alerts.time_intervals import TimePeriod, read_period
from bot.settings.section import Matchers, Section
from bot.settings.value_types import TimeZone


class RouteSettings(Section):
    match: Matchers = ""
    channels: tuple[str, ...] = ()
    nobody: bool = Field(default=False, description="what ends here is recorded and notifies nobody")
    continue_: bool = Field(default=False, alias="continue")
    mute_time_intervals: tuple[str, ...] = ()
    active_time_intervals: tuple[str, ...] = ()
    routes: tuple["RouteSettings", ...] = ()

    @model_validator(mode="after")
    def _has_one_end(self) -> "RouteSettings":
        if self.nobody and self.channels:
            raise ValueError("notifies `nobody`, and names channels: leave out one of them")
        return self


class TimeRangeSettings(Section):
    start_time: str | int
    end_time: str | int


class TimePeriodSettings(Section):
    """The fields of Alertmanager's own time intervals."""

    times: tuple[TimeRangeSettings, ...] = ()
    weekdays: tuple[str, ...] = ()
    days_of_month: tuple[str | int, ...] = ()
    months: tuple[str | int, ...] = ()
    years: tuple[str | int, ...] = ()
    location: TimeZone = "UTC"

    @property
    def period(self) -> TimePeriod:
        """The times that it describes. Raises ValueError."""
        return read_period(
            times=((one.start_time, one.end_time) for one in self.times),
            weekdays=self.weekdays,
            days_of_month=self.days_of_month,
            months=self.months,
            years=self.years,
            location=self.location,
        )

    @model_validator(mode="after")
    def _can_be_read(self) -> "TimePeriodSettings":
        _ = self.period
        return self


class InhibitRuleSettings(Section):
    """While an alert fits `source`, those that fit `target` do not notify."""

    source: Matchers
    target: Matchers
    equal: tuple[str, ...] = Field(default=(), description="labels or fields that both must share")
