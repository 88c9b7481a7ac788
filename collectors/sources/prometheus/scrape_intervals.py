"""Rules whose windows are shorter than what exporters are scraped at: they see nothing, or only now and then."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from math import floor

from collectors.facts.findings import Finding, RuleHealth, warning
from collectors.facts.one_line import some_of
from collectors.facts.promql.selectors import selectors
from collectors.facts.results import Blind
from collectors.facts.sentences import sentence
from collectors.sources.prometheus.missing import InstantQuery

_MEASURED = timedelta(minutes=20)
_NEED_TWO = frozenset({"rate", "increase", "irate", "delta", "idelta", "deriv", "predict_linear"})
_SHOWN = 6  # rules in one finding
_JITTER = 1.75  # intervals that a window of two samples has at least


async def too_rare(
    ask: InstantQuery,
    steady: Mapping[str, str],
    own: Mapping[str, Collection[str]],
    rules: Mapping[str, str],
    at: datetime,
) -> Sequence[Finding]:
    """Return the exporters that are scraped too rarely for rules.

    `steady` has a metric of each exporter that is always there, `own` its metrics that rules use, by its name; `rules`
    are the expressions.
    """
    found = []
    for exporter, metric in sorted(steady.items()):
        interval = await _interval(ask, metric, at)
        if interval is None:
            continue
        needed = {rule: _needed(expr, own[exporter]) for rule, expr in rules.items()}
        blind = sorted(rule for rule, longest in needed.items() if longest < interval)
        if not blind:
            continue
        longest = timedelta(seconds=floor(min(needed.values()).total_seconds()))
        cause = sentence(
            "{exporter} is scraped every {interval}, which is not often enough for the windows of these rules",
            exporter=exporter,
            interval=interval,
        )
        text = sentence("{rules} see too little: {cause}", rules=some_of(blind, _SHOWN), cause=cause)
        fix = sentence("scrape it every {longest} or more often", longest=longest)
        found.append(replace(warning(text, fix), rules=tuple(blind), health=RuleHealth.LATE, cause=cause))
    return found


async def _interval(ask: InstantQuery, metric: str, at: datetime) -> timedelta | None:
    """Return the time between samples of the series that has most of them; None if it is younger than measured."""
    window = f"{_MEASURED.total_seconds():.0f}s"
    found = await ask(f"max(count_over_time({metric}[{window}]) and {metric} offset {window})", at)
    if isinstance(found, Blind) or not found.samples or found.samples[0].value < 2:
        return None
    return _MEASURED / found.samples[0].value


def _needed(expr: str, own: Collection[str]) -> timedelta:
    """Return the longest time between samples with which each window of the expression sees enough."""
    windows = (
        (one.range, one.function) for one in selectors(expr) if one.range is not None and one.metric in own
    )
    found = (window / (_JITTER if function in _NEED_TWO else 1) for window, function in windows)
    return min(found, default=timedelta.max)


WINDOW = timedelta(minutes=5)
# The number of scrapes in that window, of the target that was scraped most often within the last hour.
SCRAPES_QUERY = "max_over_time(max(count_over_time(up[5m]))[1h:5m])"
_INTERVALS = 2


def longest_gap(scrapes: float, stale_after: timedelta) -> timedelta:
    """Return the longest time without a scrape that is not a hole. `scrapes` answers SCRAPES_QUERY; 0: no answer."""
    return min(stale_after, _INTERVALS * WINDOW / scrapes) if scrapes >= 1 else stale_after
