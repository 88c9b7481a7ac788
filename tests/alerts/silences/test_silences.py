"""A silence covers what it matches, from its beginning until its end."""

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
    comment="fans are being changed",
)


@pytest.mark.parametrize(("after", "is_active"), [(-1, False), (0, True), (59, True), (60, False)])
def test_it_holds_from_its_beginning_until_before_its_end(after: float, is_active: bool) -> None:
    assert SILENCE.is_active(NOON + minutes(after)) is is_active


def test_one_that_was_ended_early_is_over_at_once() -> None:
    assert not replace(SILENCE, expired_at=NOON + minutes(5)).is_active(NOON + minutes(6))


@pytest.mark.parametrize(
    ("node", "severity", "is_covered"),
    [("gpu-a01", "warning", True), ("gpu-a01", "critical", False), ("gpu-a02", "warning", False)],
)
def test_it_covers_what_all_of_its_matchers_fit(node: str, severity: str, is_covered: bool) -> None:
    labels = an_alert(node=node, severity=severity).labels

    assert SILENCE.covers(labels, NOON) is is_covered
    assert not SILENCE.covers(labels, NOON + minutes(60))
