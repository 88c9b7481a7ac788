"""Checks of objects: preconditions before a step, and whether a step took effect. Pure."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec

from collectors.facts.sentences import sentence
from commands.execution.object_refs import JsonValue


class Precondition(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The value at `path` of the object must be `equals` (None: absent)."""

    path: tuple[str, ...]
    equals: JsonValue = None


def difference(found: Mapping[str, Any], facts: Iterable[Precondition], ref: object) -> str:
    """Return how the object differs from what the plan showed; empty if it does not."""
    for fact in facts:
        value = value_at(found, fact.path)
        if (value or None) != (fact.equals or None):
            return sentence(
                "{ref}: {path} is {found} now, not {shown} as shown: run the command again",
                ref=str(ref),
                path=".".join(fact.path),
                found=repr(value),
                shown=repr(fact.equals),
            )
    return ""


def value_at(found: Any, path: tuple[str, ...]) -> Any:
    """Return the value at a path of keys; None if a key is missing, as the server omits false and 0."""
    for key in path:
        if not isinstance(found, Mapping):
            return None
        found = found.get(key)
    return found


def contains(found: Any, body: Any) -> bool:
    """Whether a merge patch would change nothing. The server omits false, 0, and a mapping that has become empty."""
    if not isinstance(body, Mapping):
        return bool(found == body) or (found is None and body in (False, 0))
    found = {} if found is None else found
    return isinstance(found, Mapping) and all(
        found.get(key) is None if value is None else contains(found.get(key), value)
        for key, value in body.items()
    )


def first_missing(found: Any, body: Mapping[str, object]) -> Precondition | None:
    """Return the first value of a merge patch that the object does not have; None if `contains`."""
    return next(
        (fact for fact in facts_of(body) if not contains(value_at(found, fact.path), fact.equals)),
        None,
    )


def facts_of(body: Mapping[str, object], above: tuple[str, ...] = ()) -> Iterator[Precondition]:
    """Yield what holds after a merge patch: each value at its path."""
    for key, value in body.items():
        path = (*above, key)
        if isinstance(value, Mapping):
            yield from facts_of(value, path)
        else:
            yield Precondition(path=path, equals=value)
