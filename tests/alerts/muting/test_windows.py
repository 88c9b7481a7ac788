"""Windows mute the alerts that they name, in their clusters, whatever the route."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from alerts.matching import parse_matchers
from alerts.muting import Coverage
from alerts.routing import CardRouting, MutingWindow, Route
from alerts.time_intervals import TimeInterval, read_period
from tests.support.alerting import an_alert

NIGHT = TimeInterval(name="night", periods=(read_period(times=[("00:00", "06:00")]),))
WINDOW = MutingWindow(interval=NIGHT, matchers=parse_matchers("alertname=Hot"), clusters=("prod-*",))
ROUTING = CardRouting(routes=(Route(channels=("C_GPU",)),), default="C", windows=(WINDOW,))


@pytest.mark.parametrize(
    ("hour", "cluster", "name", "open_channels"),
    [
        (2, "prod-a", "Hot", set()),
        (12, "prod-a", "Hot", {"C_GPU"}),
        (2, "lab", "Hot", {"C_GPU"}),
        (2, "prod-a", "Cold", {"C_GPU"}),
    ],
    ids=["in it", "outside", "another cluster", "another alert"],
)
def test_an_alert_is_muted_in_its_window(hour: int, cluster: str, name: str, open_channels: set[str]) -> None:
    alert = replace(an_alert(name), cluster=cluster)
    found = Coverage(routing=ROUTING).of(alert, datetime(2026, 3, 2, hour, tzinfo=UTC))
    assert found.open == open_channels
    assert [why.interval.name for _, why in found.quiet] == ([] if open_channels else ["night"])
    assert ROUTING.may_mute
