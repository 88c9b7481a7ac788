"""The breaker: it opens by how often automation acted in its scope, and how often to no effect."""

from datetime import timedelta
from typing import Any

import pytest

from commands.gates.breaker import BreakerLimits, BreakerScope, why_open
from commands.gates.remediation import Remediation, RemediationState
from tests.support.remediations import NOON, a_remediation

LIMITS = BreakerLimits(actions=3, without_effect=2)


def opens(*others: Remediation, limits: BreakerLimits = LIMITS, closed: int | None = None) -> str:
    closed_at = None if closed is None else NOON - timedelta(minutes=closed)
    return why_open(others[-1], others, limits, closed_at, NOON)


def ago(minutes: int, **changes: Any) -> Remediation:
    return a_remediation(minutes, at=NOON - timedelta(minutes=minutes), **changes)


def test_it_opens_at_so_many_actions_within_an_hour() -> None:
    assert opens(ago(50), ago(20), ago(1)) == "3 actions within an hour"
    assert not opens(ago(70), ago(20), ago(1))
    assert not opens(ago(20), ago(1))


@pytest.mark.parametrize(
    "other", [{"pool": "b"}, {"is_trial": True}, {"state": RemediationState.HELD}], ids=lambda one: str(one)
)
def test_what_is_of_another_scope_or_did_not_act_does_not_count(other: Any) -> None:
    assert not opens(ago(50, **other), ago(20), ago(1))


def test_it_opens_at_so_many_actions_without_effect() -> None:
    again: dict[str, Any] = {"state": RemediationState.NOTHING, "is_again": True}
    assert opens(ago(9, **again), ago(1, has_failed=True)) == "2 actions without effect within an hour"
    assert not opens(ago(9), ago(1, **again))


def test_what_was_before_it_was_closed_counts_no_more() -> None:
    assert not opens(ago(50), ago(20), ago(1), closed=15)
    assert opens(ago(14), ago(10), ago(1), closed=15)


def test_its_scope_may_be_a_command() -> None:
    limits = BreakerLimits(scope=BreakerScope.COMMAND, actions=2)
    assert opens(ago(9, pool="b"), ago(1), limits=limits)
    assert not opens(ago(9, command="node drain"), ago(1), limits=limits)
