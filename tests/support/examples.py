"""This file says how long a proof looks: a little in `make test`, long in `make soak`."""

from typing import Any, TypeVar

from hypothesis import settings

SOAK = "soak"  # the name of hypothesis' profile, and of the marker of tests that look longer in it

T = TypeVar("T")


def share(of_usual: float, **more: Any) -> settings:
    """The profile's number of examples times this, for a test whose examples are dear."""
    return settings(max_examples=max(1, round(settings().max_examples * of_usual)), **more)


def by_profile(usual: T, soaking: T) -> T:
    return soaking if settings.get_current_profile_name() == SOAK else usual
