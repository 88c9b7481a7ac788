"""The window of a PromQL query: how far back it looks."""

from datetime import timedelta

import pytest

from collectors.facts.queries import PromQLQuery


@pytest.mark.parametrize(
    ("expr", "minutes"),
    [
        pytest.param("up == 0", 0, id="no range"),
        pytest.param("rate(x[2m]) > 0.8", 2, id="one range"),
        pytest.param("rate(x[5m]) / rate(y[1h30m])", 90, id="the longest of several, of several units"),
        pytest.param(
            "max_over_time(rate(x[5m])[10m:1m])", 15, id="a range within a subquery, before its own"
        ),
        pytest.param("max_over_time(x[ 20m : ])", 20, id="blanks, and a subquery without a step"),
        pytest.param('x{code=~"[234]..", device!~"sr[0-9]s*"}', 0, id="a set of characters"),
        pytest.param('x{a="[5m]"} # [1h]', 0, id="a range in a string, and in a comment"),
        pytest.param("rate(x[300]) / rate(y[0x3c])", 5, id="seconds"),
        pytest.param("rate(x[5m", 0, id="no PromQL"),
    ],
)
def test_how_far_a_query_looks_back(expr: str, minutes: int) -> None:
    assert PromQLQuery(expr=expr).window == timedelta(minutes=minutes)
