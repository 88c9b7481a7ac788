"""A cursor asks for no more than Prometheus and the memory allow, and misses no moment."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta

import pytest

from bot.backtest.range_cursor import MAX_POINTS, Moments, RangeCursor
from collectors.facts.labels import Labels
from collectors.facts.queries import PromQLQuery
from collectors.facts.results import Series, TooLargeError
from tests.support.alerting import NOON

STEP = timedelta(seconds=15)


@dataclass
class Source:
    """Each series has its moment's number as value. A response of more than `most` points is too large."""

    most: int
    series: int = 1
    sizes: list[int] = field(default_factory=list)  # points of a series in each response

    async def range(
        self, query: PromQLQuery, *, start: datetime, end: datetime, step: timedelta
    ) -> tuple[Series, ...]:
        count = (end - start) // step + 1
        if count * self.series > self.most:
            raise TooLargeError("too large", temporary=False)
        self.sizes.append(count)
        times = [start + number * step for number in range(count)]
        points = tuple((at.timestamp(), (at - NOON) / step) for at in times)
        return tuple(Series(labels=Labels({"n": str(n)}), points=points) for n in range(self.series))


async def read(source: Source, count: int) -> list[tuple[float, ...]]:
    cursor = RangeCursor(source, PromQLQuery(expr="x"), Moments(start=NOON, step=STEP, count=count))
    return [tuple(sample.value for sample in await cursor.at(number)) for number in range(count)]


async def test_a_week_is_read_in_windows_below_the_limit_of_prometheus() -> None:
    source, week = Source(most=10**9), timedelta(days=7) // STEP
    assert await read(source, week) == [(number,) for number in range(week)]
    assert sum(source.sizes) == week
    assert max(source.sizes) <= MAX_POINTS < 11_000
    assert len(source.sizes) < 10


@pytest.mark.parametrize("most", [3, 100, 2_999])
async def test_windows_shrink_until_the_response_is_small_enough(most: int) -> None:
    source = Source(most=most, series=3)
    assert await read(source, 500) == [(number,) * 3 for number in range(500)]
    assert sum(source.sizes) == 500


async def test_a_single_moment_that_is_too_large_is_an_error() -> None:
    with pytest.raises(TooLargeError):
        await read(Source(most=2, series=3), 500)


async def test_moments_may_be_skipped() -> None:
    source = Source(most=10**9)
    cursor = RangeCursor(source, PromQLQuery(expr="x"), Moments(start=NOON, step=STEP, count=20_000))
    assert [sample.value for sample in await cursor.at(19_999)] == [19_999]
    assert source.sizes == [1]
