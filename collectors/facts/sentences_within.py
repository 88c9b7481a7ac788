"""Sentences in the place of their English, within rows of any shape: what was encoded knows exact strings only."""

from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any, Final

from collectors.facts.labels import Labels
from collectors.facts.sentences import Sentence

# No sentence is in these.
_BARE: Final = frozenset({bool, int, float, type(None), datetime, timedelta, Labels})


def restored(value: Any, said: Mapping[str, Sentence]) -> Any:
    """Return a row, or a part of one, with the sentences in the place of their English; itself if it has none."""
    kind: Any = type(value)
    if kind is str:
        return said.get(value, value)
    if kind in _BARE:
        return value
    if kind is tuple or kind is list:
        changed = _changed(enumerate(value), said)
        return type(value)(changed.get(at, one) for at, one in enumerate(value)) if changed else value
    if kind is dict:
        changed = _changed(value.items(), said)
        return {**value, **changed} if changed else value
    names = _field_names(kind)
    changed = _changed(((name, getattr(value, name)) for name in names), said)
    return _with(value, names, changed) if changed else value


def _changed(parts: Iterable[tuple[Any, Any]], said: Mapping[str, Sentence]) -> dict[Any, Any]:
    """Return what is something else with its sentences, by its key."""
    changed = {}
    for key, before in parts:
        if type(before) not in _BARE and (after := restored(before, said)) is not before:
            changed[key] = after
    return changed


def _with(row: Any, names: Iterable[str], changed: Mapping[str, Any]) -> Any:
    if not is_dataclass(row):
        return row.__replace__(**changed)
    again = object.__new__(type(row))  # it was checked when it was made
    for name in names:
        object.__setattr__(again, name, changed[name] if name in changed else getattr(row, name))
    return again


@lru_cache(maxsize=256)
def _field_names(kind: type) -> tuple[str, ...]:
    """Return the fields of a dataclass or of a struct of msgspec, which a step of a plan is; none of others."""
    if is_dataclass(kind):
        return tuple(field.name for field in fields(kind))
    return getattr(kind, "__struct_fields__", ())
