"""Windows as a gate: whom they hold back, until when, and what automation may do in one."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from alerts.time_intervals import TimeInterval, read_period
from commands.execution.plan import PlanState
from commands.gates.budget import OF_AUTOMATION
from commands.gates.window import (
    InWindow,
    PlannedWindow,
    WindowNotice,
    announcement,
    budget_of_automation,
    held_by_windows,
)
from tests.support.execution import plan_of

NIGHT = TimeInterval(name="night", periods=(read_period(times=[("00:00", "06:00")]),))
AT_TWO = datetime(2026, 3, 2, 2, tzinfo=UTC)
AT_NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
PLAN = replace(plan_of(), command="node drain")


def a_window(**changes: Any) -> PlannedWindow:
    return replace(
        PlannedWindow(interval=NIGHT, automation=InWindow.WAITS, people_wait_with=("node drain",)), **changes
    )


def test_automation_waits_until_the_window_ends() -> None:
    verdict = held_by_windows([a_window()], PLAN, AT_TWO, is_automation=True)
    assert verdict.until == AT_TWO + timedelta(hours=4)
    assert "window night lasts until" in verdict.reason
    assert not verdict.is_final
    assert not held_by_windows([a_window()], PLAN, AT_NOON, is_automation=True).holds


@pytest.mark.parametrize(
    ("changes", "window", "holds"),
    [
        ({}, {}, True),
        ({"command": "node uncordon"}, {}, False),
        ({"undo_of": "p1"}, {}, False),
        ({"over_budget": "it loses data"}, {}, False),
        ({"state": PlanState.RUNNING}, {}, False),
        ({}, {"clusters": ("other-*",)}, False),
    ],
    ids=["a listed command", "another", "an undo", "taken over its gates", "already begun", "elsewhere"],
)
def test_people_wait_with_what_is_listed(changes: Any, window: Any, holds: bool) -> None:
    plan = replace(PLAN, **changes)
    assert held_by_windows([a_window(**window)], plan, AT_TWO, is_automation=False).holds is holds


def test_automation_may_do_more_in_a_window_of_its_own() -> None:
    window = a_window(automation=InWindow.MORE, nodes=4)
    assert budget_of_automation([window], "prod-a", AT_TWO).nodes == 4
    assert budget_of_automation([window], "prod-a", AT_NOON) is OF_AUTOMATION


def test_begin_and_end_are_said_once() -> None:
    window = a_window(mutes="severity=info")
    begun = announcement(window, None, AT_TWO)
    assert begun is not None
    assert begun.effects == (
        "Automation waits.",
        "Plans of `node drain` wait.",
        "Alerts with `severity=info` do not notify.",
    )
    assert announcement(window, begun, AT_TWO + timedelta(hours=1)) is None
    ended = announcement(window, begun, AT_NOON)
    assert ended is not None
    assert not ended.has_begun
    assert announcement(window, ended, AT_NOON) is None
    slept = WindowNotice(id="w1", window="night", at=AT_NOON - timedelta(days=3), has_begun=False)
    assert announcement(window, slept, AT_NOON) is None, "what began and ended meanwhile is over"
