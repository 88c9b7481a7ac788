"""A silence covers the alerts that it matches, from its start until its end."""

from dataclasses import replace

import pytest

from alerts.matching import parse_matchers
from alerts.silences import Silence
from tests.support.alerting import NOON, an_alert, minutes

SILENCE = Silence(
    id="s1",
    cluster="prod-a",
    matchers=parse_matchers('node="gpu-a01",severity!="critical"'),
    starts_at=NOON,
    ends_at=NOON + minutes(60),
    by="U1",
    comment="replacing the fans",
)


@pytest.mark.parametrize(("after", "is_active"), [(-1, False), (0, True), (59, True), (60, False)])
def test_a_silence_is_active_from_its_start_until_before_its_end(after: float, is_active: bool) -> None:
    assert SILENCE.is_active(NOON + minutes(after)) is is_active


def test_an_expired_silence_is_inactive() -> None:
    assert not replace(SILENCE, expired_at=NOON + minutes(5)).is_active(NOON + minutes(6))


@pytest.mark.parametrize(
    ("node", "severity", "is_covered"),
    [("gpu-a01", "warning", True), ("gpu-a01", "critical", False), ("gpu-a02", "warning", False)],
)
def test_a_silence_covers_alerts_that_fit_all_its_matchers(
    node: str, severity: str, is_covered: bool
) -> None:
    labels = an_alert(node=node, severity=severity).labels

    assert SILENCE.covers(labels, NOON) is is_covered
    assert not SILENCE.covers(labels, NOON + minutes(60))
