"""This file has the one source to the time of day."""

from datetime import UTC, datetime
from typing import Protocol


class Clock(Protocol):
    """Tells the time: an aware moment in UTC."""

    def now(self) -> datetime: ...


class SystemClock:
    """The machine's clock."""

    def now(self) -> datetime:
        return datetime.now(UTC)  # noqa: TID251  the one source
