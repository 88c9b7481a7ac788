"""A set hour of the day on the clock of each person."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from zoneinfo import ZoneInfo


@dataclass(frozen=True, slots=True, kw_only=True)
class DailyTime:
    """The hour at which people are reminded, on the clock of each; None: they are not. `zone_of`: of a person."""

    at: time | None
    zone_of: Callable[[str], str] = lambda _person: "UTC"

    def next_after(self, moment: datetime, person: str) -> datetime:
        """Return the first such hour of a person after this moment."""
        assert self.at is not None
        zone = ZoneInfo(self.zone_of(person))
        day = moment.astimezone(zone).date()
        hours = (
            datetime.combine(day + timedelta(days=days), self.at, zone).astimezone(UTC) for days in (0, 1, 2)
        )
        return next(hour for hour in hours if hour > moment)
