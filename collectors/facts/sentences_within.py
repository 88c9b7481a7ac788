"""Sentences in the place of their English, within rows of any shape: what was encoded knows exact strings only."""

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import fields, is_dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from collectors.facts.labels import Labels
from collectors.facts.sentences import Sentence

# No sentence is in these.
_BARE: Final = frozenset({bool, int, float, type(None), datetime, timedelta, Labels})


def restored(value: Any, said: Mapping[str, Sentence]) -> Any:
    """Return a row, or a part of one, with the sentences in the place of their English."""
    if type(value) in _BARE:
        return value
    match value:
        case str():
            return said.get(value, value) if type(value) is str else value
        case tuple() | list():
            after = [restored(one, said) for one in value]
            return type(value)(after) if _differ(value, after) else value
        case dict():
            return {key: restored(one, said) for key, one in value.items()}
        case _ if is_dataclass(value):
            return _restored_row(value, said)
        case _ if hasattr(value, "__struct_fields__"):  # a step of a plan is a struct of msgspec
            return _restored_struct(value, said)
        case _:
            return value


def _restored_row(row: Any, said: Mapping[str, Sentence]) -> Any:
    names = [field.name for field in fields(row)]
    before = [getattr(row, name) for name in names]
    after = [restored(value, said) for value in before]
    if not _differ(before, after):
        return row
    again = copy(row)  # it may be a default that other rows have too
    for name, value in zip(names, after, strict=True):
        object.__setattr__(again, name, value)
    return again


def _restored_struct(struct: Any, said: Mapping[str, Sentence]) -> Any:
    before = {name: getattr(struct, name) for name in struct.__struct_fields__}
    after = {name: restored(value, said) for name, value in before.items()}
    is_other = _differ(tuple(before.values()), tuple(after.values()))
    return struct.__replace__(**after) if is_other else struct


def _differ(before: Sequence[Any], after: Sequence[Any]) -> bool:
    return any(one is not other for one, other in zip(before, after, strict=True))
