"""A duration that is too long for a datetime is an error."""

from datetime import timedelta

import pytest

from collectors.facts.clock import duration


@pytest.mark.parametrize("text", ["99999999d", "99999999999999d", "101y", f"{'9' * 4000}ms"])
def test_a_duration_that_is_too_long_is_an_error(text: str) -> None:
    with pytest.raises(ValueError, match="100y at most"):
        duration(text)


def test_a_hundred_years_are_accepted() -> None:
    assert duration("100y") == timedelta(days=36_500)
