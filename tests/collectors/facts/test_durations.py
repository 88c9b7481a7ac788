"""This file tests that a duration that no clock can count is refused like any other that is not one."""

from datetime import timedelta

import pytest

from collectors.facts.clock import duration


@pytest.mark.parametrize("text", ["99999999d", "99999999999999d", "101y", f"{'9' * 4000}ms"])
def test_a_duration_beyond_all_clocks_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="100y at most"):
        duration(text)


def test_a_hundred_years_are_taken() -> None:
    assert duration("100y") == timedelta(days=36_500)
