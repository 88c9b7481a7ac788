"""Preconditions: an object that already shows the effect of a merge patch."""

from typing import Any

import pytest

from commands.execution.preconditions import contains


@pytest.mark.parametrize(
    ("found", "body", "is_so"),
    [
        pytest.param({"spec": {"a": 1, "b": 2}}, {"spec": {"a": 1}}, True, id="the set value is there"),
        pytest.param({"spec": {"a": 2}}, {"spec": {"a": 1}}, False, id="another value"),
        pytest.param({"spec": {"a": 1}}, {"spec": {"a": None}}, False, id="the removed value is there"),
        pytest.param({"spec": {"b": 1}}, {"spec": {"a": None}}, True, id="the removed value is gone"),
        pytest.param({}, {"notes": {"a": None}}, True, id="gone with its mapping"),
        pytest.param({}, {"notes": {"a": 1}}, False, id="the mapping is missing"),
        pytest.param({"spec": 1}, {"spec": {"a": None}}, False, id="not a mapping"),
    ],
)
def test_a_merge_patch_that_would_change_nothing_counts_as_done(found: Any, body: Any, is_so: bool) -> None:
    assert contains(found, body) is is_so
