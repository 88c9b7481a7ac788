"""The backtest of rules on the recorded data of one cluster."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from math import ceil

from alerts.engine import AlertRenderer
from alerts.rules import Rule
from bot.backtest.range_cursor import Moments, RangeCursor, RangeSource
from bot.backtest.replay import PastAlert, Replay, ReplayedRule
from collectors.facts.queries import PromQLQuery
from collectors.facts.results import SourceError
from collectors.sources.prometheus.options import PrometheusOptions
from collectors.sources.prometheus.scrape_intervals import SCRAPES_QUERY, longest_gap

_HOUR = timedelta(hours=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Period:
    """From when to when."""

    start: datetime
    end: datetime

    @property
    def length(self) -> timedelta:
        return self.end - self.start


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterBacktest:
    """What fired in a cluster, when nothing was recorded, and which rules could not be replayed, and why."""

    cluster: str
    period: Period
    rules: tuple[ReplayedRule, ...] = ()
    blind: tuple[Period, ...] = ()
    failed: dict[str, str] = field(default_factory=dict)  # rule -> reason

    @property
    def alerts(self) -> tuple[PastAlert, ...]:
        """What fired in the period, oldest first."""
        found = (alert for rule in self.rules for alert in rule.alerts)
        return tuple(sorted(found, key=lambda alert: (alert.started, alert.rule, str(alert.labels))))


async def backtest_cluster(
    cluster: str,
    rules: Sequence[Rule],
    period: Period,
    source: RangeSource,
    *,
    options: PrometheusOptions,
    renderer: AlertRenderer,
    step: timedelta | None = None,
) -> ClusterBacktest:
    """Replay PromQL rules, each at its own interval, or all at `step`.

    Each begins early enough that what was active at the start of the period has waited for its `for`. Raises
    SourceError when it cannot be found out what was recorded.
    """
    replayed: list[ReplayedRule] = []
    failed: dict[str, str] = {}
    blind: dict[tuple[timedelta, timedelta], tuple[Moments, list[bool]]] = {}
    for rule in rules:
        key = step or rule.interval, rule.timing.for_
        if key not in blind:
            start = period.start - rule.timing.for_
            moments = Moments(start=start, step=key[0], count=(period.end - start) // key[0] + 1)
            blind[key] = moments, await _blind_moments(source, moments, options)
        moments, is_blind = blind[key]
        try:
            done = await Replay(rule, source, moments, is_blind, cluster=cluster, renderer=renderer).run()
        except SourceError as error:
            failed[rule.name] = str(error)
            continue
        in_period = tuple(one for one in done.alerts if one.ended is None or one.ended > period.start)
        replayed.append(ReplayedRule(rule=rule, alerts=in_period, unusable=done.unusable))
    spans = tuple(_spans(*blind[min(blind)], period)) if blind else ()  # of the shortest step
    return ClusterBacktest(cluster=cluster, period=period, rules=tuple(replayed), blind=spans, failed=failed)


async def _blind_moments(source: RangeSource, moments: Moments, options: PrometheusOptions) -> list[bool]:
    """Return for each moment whether it is in a hole, or just after one, as PrometheusSource.hole does."""
    if not options.freshness_query:
        return [False] * moments.count
    hours = Moments(start=moments.start, step=_HOUR, count=ceil(moments.count * moments.step / _HOUR) + 1)
    scrapes = RangeCursor(source, PromQLQuery(expr=SCRAPES_QUERY), hours)
    counts = [
        max((sample.value for sample in await scrapes.at(hour)), default=0) for hour in range(hours.count)
    ]
    newest = RangeCursor(source, PromQLQuery(expr=options.freshness_query), moments)
    is_stale: list[bool] = []
    is_blind: list[bool] = []
    for number in range(moments.count):
        now = moments[number]
        hour = (now - moments.start) // _HOUR
        gap = longest_gap(max(counts[hour : hour + 2]), options.stale_after)
        times = [sample.value for sample in await newest.at(number)]
        is_stale.append(not times or now.timestamp() - times[0] > gap.total_seconds())
        before = max(0, number - ceil(gap / moments.step))
        is_blind.append(is_stale[number] or is_stale[before])
    return is_blind


def _spans(moments: Moments, is_blind: Sequence[bool], period: Period) -> Iterator[Period]:
    """Yield the parts of the period that are blind."""
    first: int | None = None
    for number, blind in enumerate((*is_blind, False)):
        if blind and first is None:
            first = number
        elif not blind and first is not None:
            span = Period(start=max(moments[first], period.start), end=min(moments[number], period.end))
            if span.start < span.end:
                yield span
            first = None
