"""The samples of an expression at moment after moment, fetched in windows as large as the caps allow."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

from collectors.facts.queries import PromQLQuery
from collectors.facts.results import Sample, Series, TooLargeError

MAX_POINTS = 10_000  # of a series in one response; Prometheus allows 11,000
_FIRST_POINTS = 2_000


class RangeSource(Protocol):
    async def range(
        self, query: PromQLQuery, *, start: datetime, end: datetime, step: timedelta
    ) -> tuple[Series, ...]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Moments:
    """The moments of a replay, numbered from 0."""

    start: datetime
    step: timedelta
    count: int

    def __getitem__(self, number: int) -> datetime:
        return self.start + number * self.step


class RangeCursor:
    """Reads one query, without its presence. Only the window around the last moment is in memory."""

    def __init__(self, source: RangeSource, query: PromQLQuery, moments: Moments) -> None:
        self._source = source
        self._query = query
        self._moments = moments
        self._points = _FIRST_POINTS
        self._window = range(0)
        self._samples: dict[int, list[Sample]] = {}

    async def at(self, number: int) -> tuple[Sample, ...]:
        """Return the samples at that moment. Raises SourceError."""
        if number not in self._window:
            await self._load(number)
        return tuple(self._samples.get(number, ()))

    async def _load(self, first: int) -> None:
        """Load a window that begins at this moment; a smaller one when the response is too large."""
        moments = self._moments
        while True:
            window = range(first, min(first + self._points, moments.count))
            self._window, self._samples = range(0), {}
            try:
                found = await self._source.range(
                    self._query,
                    start=moments[window[0]],
                    end=moments[window[-1]],
                    step=moments.step,
                )
                break
            except TooLargeError:
                if len(window) == 1:
                    raise
                self._points = len(window) // 4 or 1
        for series in found:
            for time, value in series.points:
                number = round((time - moments.start.timestamp()) / moments.step.total_seconds())
                self._samples.setdefault(number, []).append(Sample(labels=series.labels, value=value))
        self._window = window
        self._points = min(MAX_POINTS, self._points * 2)
