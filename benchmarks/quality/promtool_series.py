"""Input series of promtool's rule tests, as samples that a Prometheus can import."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

_LABEL = re.compile(r'(?P<name>\w+)\s*=\s*"(?P<value>(?:[^"\\]|\\.)*)"')
_NUMBER = r"[-+]?(?:\d+\.?\d*(?:[eE][-+]?\d+)?|NaN|Inf)"
_RUN = re.compile(rf"(?P<first>{_NUMBER})(?:(?P<step>[-+]\d+\.?\d*(?:[eE][-+]?\d+)?))?x(?P<times>\d+)")
_MISSING = re.compile(r"_(?:x(?P<times>\d+))?")


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class SeriesSample:
    """One sample. `series` has its labels sorted, so that one series has one text."""

    metric: str
    series: str
    at: datetime
    value: float


def values(notation: str) -> Iterator[float | None]:
    """Yield the values of `0+1x3 _x2 stale 7`; None is a missing sample. Raises ValueError for what it does not know.

    `stale` is missing, too: whoever scrapes a page without a series marks it stale.
    """
    for word in notation.split():
        if run := _RUN.fullmatch(word):
            first, step = float(run["first"]), float(run["step"] or 0)
            yield from (first + step * number for number in range(int(run["times"]) + 1))
        elif word == "stale":
            yield None
        elif missing := _MISSING.fullmatch(word):
            yield from [None] * int(missing["times"] or 1)
        else:
            yield float(word)


def samples(
    series: str, notation: str, *, start: datetime, every: timedelta, plus: float = 0
) -> Iterator[SeriesSample]:
    """Yield the samples of a series from `start`, each value with `plus` added.

    Raises ValueError for a series that becomes stale: what is imported cannot be marked so, and would last 5 min more.
    """
    if "stale" in notation.split():
        raise ValueError(f"`{series}` becomes stale, which no import can say")
    metric = series.partition("{")[0].strip()
    labels = sorted(f'{one["name"]}="{one["value"]}"' for one in _LABEL.finditer(series))
    whole = f"{metric}{{{','.join(labels)}}}"
    for number, value in enumerate(values(notation)):
        if value is not None:
            yield SeriesSample(metric=metric, series=whole, at=start + number * every, value=value + plus)


def openmetrics(found: Iterable[SeriesSample]) -> str:
    """Return the samples as OpenMetrics, each family and each series in one piece."""
    lines = [f"{one.series} {one.value!r} {one.at.timestamp():.3f}" for one in sorted(found)]
    return "\n".join([*lines, "# EOF", ""])
