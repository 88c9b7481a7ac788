"""This file has what must be so before a step is done, and how one sees that it was. Pure."""

from collections.abc import Mapping
from typing import Any

from commands.plans.steps import Precondition, Wait


class StepFailedError(Exception):
    """A step could not be done. The text says why, and what is so instead."""


def is_so(step: Wait, seen: object) -> bool:
    """Whether the value that was seen is what the step waits for."""
    if step.at_least is not None:
        return isinstance(seen, int | float) and seen >= step.at_least
    return bool(seen == step.equals)


def check(found: Mapping[str, Any], fact: Precondition, ref: object) -> None:
    """Raise StepFailedError when the object is not as the plan was shown."""
    value = value_at(found, fact.path)
    if (value or None) != (fact.equals or None):
        raise StepFailedError(
            f"{ref}: {'.'.join(fact.path)} is {value!r} now, not {fact.equals!r} as was shown: look again"
        )


def value_at(found: Any, path: tuple[str, ...]) -> Any:
    """The value at a path of keys; None where a key is missing, as the server leaves out false and 0."""
    for key in path:
        if not isinstance(found, Mapping):
            return None
        found = found.get(key)
    return found


def contains(found: Any, body: Any) -> bool:
    """Whether a merge patch would change nothing. The server leaves out a mapping that has become empty."""
    if not isinstance(body, Mapping):
        return bool(found == body)
    found = {} if found is None else found
    return isinstance(found, Mapping) and all(
        found.get(key) is None if value is None else contains(found.get(key), value)
        for key, value in body.items()
    )
