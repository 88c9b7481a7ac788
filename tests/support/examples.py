"""The number of Hypothesis examples: few in `make test`, many in `make soak`."""

from typing import Any, TypeVar

from hypothesis import settings

SOAK = "soak"  # the Hypothesis profile, and the marker of tests that run longer in it

T = TypeVar("T")


def share(of_usual: float, **more: Any) -> settings:
    """Return the profile's number of examples times this, for a test with slow examples."""
    return settings(max_examples=max(1, round(settings().max_examples * of_usual)), **more)


def by_profile(usual: T, soaking: T) -> T:
    return soaking if settings.get_current_profile_name() == SOAK else usual
