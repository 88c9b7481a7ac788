"""Reopened incidents: the same fault soon again. Anything else is a new incident that names the old one."""

from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from alerts.alert import Alert
from alerts.incidents.grouping import REOPENS_WITHIN, GroupingContext
from alerts.incidents.incident import Incident
from alerts.incidents.incident_book import IncidentBook
from collectors.facts.stepwise import result_of
from tests.support.alerting import CLUSTER, NOON, a_topology, an_alert, minutes, resolved

HOT, SILENT = (
    an_alert("GPUTemperatureHigh", node="gpu-a01", gpu="3"),
    an_alert("KubeNodeNotReady", node="gpu-a01"),
)


class History:
    """Cycles of a book that is stored after each."""

    def __init__(self, *, reopens_within: timedelta = REOPENS_WITHIN) -> None:
        self.book = IncidentBook(CLUSTER)
        self.grouping = GroupingContext(rules={}, topology=a_topology(), reopens_within=reopens_within)

    def cycle(self, at: datetime, *alerts: Alert) -> list[Incident]:
        """Absorb the alerts and return the incidents that changed."""
        steps = self.book.absorb(
            [(alert, at) for alert in alerts], grouping=self.grouping, channels_of=lambda _: ("C1",), now=at
        )
        effects = result_of(steps)
        known = len(self.book._incidents)
        effects = effects.numbered(f"i{known + number}" for number, _ in enumerate(effects.opened, 1))
        self.book.apply({"incidents": {one.id: one for one in effects.incidents}})
        return list(effects.incidents)

    def stood(self, alert: Alert, start: float, end: float) -> Incident:
        """Let the alert fire for these minutes after noon, and return its incident, which is over."""
        self.cycle(
            NOON + minutes(start), replace(alert, life=replace(alert.life, since=NOON + minutes(start)))
        )
        (incident,) = self.cycle(NOON + minutes(end), resolved(alert, NOON + minutes(end)))
        return incident


def test_the_same_rule_soon_after_reopens_the_incident() -> None:
    history = History()
    history.stood(HOT, 0, 2)

    again = history.stood(HOT, 11, 12)

    assert (again.id, again.times, again.opened_at, again.began_at) == ("i1", 2, NOON, NOON + minutes(11))


def test_only_what_stood_counts() -> None:
    history = History()
    history.stood(HOT, 0, 2)

    again = history.stood(HOT, 11, 12)

    assert again.lasted(NOON + minutes(99)) == minutes(3)


@pytest.mark.parametrize(
    ("alert", "start", "is_repeat"),
    [
        pytest.param(HOT, 12, True, id="the same rule, ten minutes after the end"),
        pytest.param(HOT, 50, True, id="the same rule, later"),
        pytest.param(SILENT, 3, False, id="another rule about the same node, at once"),
    ],
)
def test_anything_else_is_a_new_incident_that_names_the_old_one(
    alert: Alert, start: float, is_repeat: bool
) -> None:
    history = History()
    history.stood(HOT, 0, 2)

    (new,) = history.cycle(NOON + minutes(start), alert)

    assert (new.id, new.earlier, new.earlier_ended_at) == ("i2", "i1", NOON + minutes(2))
    assert (new.is_repeat, new.times, new.opened_at) == (is_repeat, 1, NOON + minutes(start))


def test_what_ended_long_ago_is_not_named() -> None:
    history = History()
    history.stood(HOT, 0, 2)
    history.book.forget(NOON + minutes(62))

    (new,) = history.cycle(NOON + minutes(62), HOT)

    assert new.earlier == ""


def test_another_node_names_nothing() -> None:
    history = History()
    history.stood(HOT, 0, 2)

    (new,) = history.cycle(NOON + minutes(3), an_alert("GPUTemperatureHigh", node="gpu-a02"))

    assert (new.id, new.earlier) == ("i2", "")


def test_the_setting_says_how_soon_it_is_the_same() -> None:
    history = History(reopens_within=minutes(30))
    history.stood(HOT, 0, 2)

    assert history.stood(HOT, 31, 32).id == "i1"


def test_a_reopened_incident_concerns_only_what_is_affected_now() -> None:
    history = History()
    history.stood(HOT, 0, 2)
    history.grouping = replace(history.grouping, topology=replace(a_topology(), trainings={}))

    (again,) = history.cycle(NOON + minutes(5), HOT)

    assert again.impacts == ()


def test_it_ends_and_begins_again_within_one_cycle() -> None:
    """A backfill reports both; in between the incident was over, as it is when the cycles come one by one."""
    history = History()
    history.cycle(NOON, HOT)
    back = NOON + minutes(20)
    updates = [(resolved(HOT, NOON + minutes(2)), NOON + minutes(2)), (HOT, back)]

    effects = result_of(
        history.book.absorb(updates, grouping=history.grouping, channels_of=lambda _: ("C1",), now=back)
    )

    assert [(one.is_open, one.lasted(back)) for one in effects.incidents] == [
        (False, minutes(2)),
        (True, minutes(0)),
    ]
