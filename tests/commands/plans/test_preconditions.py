"""This file tells whether an object shows the effect of a merge patch already."""

from typing import Any

import pytest

from commands.plans.preconditions import contains


@pytest.mark.parametrize(
    ("found", "body", "is_so"),
    [
        pytest.param({"spec": {"a": 1, "b": 2}}, {"spec": {"a": 1}}, True, id="what it sets is there"),
        pytest.param({"spec": {"a": 2}}, {"spec": {"a": 1}}, False, id="another value"),
        pytest.param({"spec": {"a": 1}}, {"spec": {"a": None}}, False, id="what it takes away is there"),
        pytest.param({"spec": {"b": 1}}, {"spec": {"a": None}}, True, id="what it takes away is gone"),
        pytest.param({}, {"notes": {"a": None}}, True, id="gone with the mapping it was in"),
        pytest.param({}, {"notes": {"a": 1}}, False, id="the mapping is not there yet"),
        pytest.param({"spec": 1}, {"spec": {"a": None}}, False, id="not a mapping"),
    ],
)
def test_a_merge_patch_that_would_change_nothing_was_done(found: Any, body: Any, is_so: bool) -> None:
    assert contains(found, body) is is_so
