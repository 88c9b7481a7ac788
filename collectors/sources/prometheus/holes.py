"""Holes in what Prometheus recorded: how long without a scrape is one."""

from datetime import timedelta

WINDOW = timedelta(minutes=5)
# The number of scrapes in that window, of the target that was scraped most often within the last hour.
SCRAPES_QUERY = "max_over_time(max(count_over_time(up[5m]))[1h:5m])"
_INTERVALS = 2


def longest_gap(scrapes: float, stale_after: timedelta) -> timedelta:
    """Return the longest time without a scrape that is no hole. `scrapes` answers SCRAPES_QUERY; 0: no answer."""
    return min(stale_after, _INTERVALS * WINDOW / scrapes) if scrapes >= 1 else stale_after
