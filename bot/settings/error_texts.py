"""The text of each kind of error that the schema finds, in words that say what to write."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any, get_args, get_origin

from pydantic import BaseModel

from alerts.loading.node_reader import did_you_mean
from bot.settings.locations import KeyPath, part_of
from collectors.facts.clock import format_duration

_ABSENT = object()
_TEXTS: Mapping[str, str] = {
    "missing": "is missing",
    "bool": "must be true or false",
    "int": "must be a whole number",
    "float": "must be a number",
    "string": "must be text",
    "tuple": "must be a list",
    "dict": "must be a map of names and values",
    "model": "must be a section of settings",
    "too_short": "must have at least one entry",
    "path": "must be the path of a file",
    "time_delta": "must be a duration: write it like 30s, 5m, 1h30m or 7d",
}
_LIMITS: Mapping[str, tuple[str, str]] = {
    "greater_than_equal": ("ge", "must be at least"),
    "greater_than": ("gt", "must be more than"),
    "less_than_equal": ("le", "must be at most"),
    "less_than": ("lt", "must be less than"),
}


def path_of(error: Mapping[str, Any], values: Any) -> KeyPath:
    """Return the path of the setting that the error is about, without the names of alternative types."""
    path: list[str | int] = []
    here: Any = values
    for part in error["loc"]:
        if _is_type(part) and part_of(here, part, _ABSENT) is _ABSENT:
            continue
        path.append(part)
        here = part_of(here, part)
    return tuple(path)


def _is_type(part: str | int) -> bool:
    return isinstance(part, str) and (
        part in ("[key]", "str", "dict") or part.startswith(("tuple[", "dict[", "function-"))
    )


def text_of(error: Mapping[str, Any], path: KeyPath, model: type[BaseModel]) -> str:
    """Return what is wrong with a setting."""
    kind, context = str(error["type"]), error.get("ctx") or {}
    if kind == "value_error":
        return str(context.get("error", ""))
    if kind == "extra_forbidden":
        return f"unknown setting{did_you_mean(str(path[-1]), _keys(_section(model, path[:-1])))}"
    if kind == "literal_error":
        return f"must be one of {str(context.get('expected', '')).replace(chr(39), '`')}"
    if kind in _LIMITS:
        name, words = _LIMITS[kind]
        limit = context.get(name)
        return f"{words} {format_duration(limit) if isinstance(limit, timedelta) else limit}"
    for start, text in _TEXTS.items():
        if kind == start or kind.startswith(f"{start}_"):
            return text
    return "is not a value that this setting can have"


def _keys(section: type[BaseModel] | None) -> tuple[str, ...]:
    return tuple(field.alias or name for name, field in section.model_fields.items()) if section else ()


def _section(model: type[BaseModel], path: KeyPath) -> type[BaseModel] | None:
    """Return the section of the schema at this path."""
    here: Any = model
    for part in path:
        if isinstance(here, type) and issubclass(here, BaseModel):
            fields = {field.alias or name: field for name, field in here.model_fields.items()}
            here = fields[part].annotation if part in fields else None
        elif isinstance(here, tuple):  # the alternatives of an item
            here = next((one for one in here if one is not None), None)
        here = _unwrapped(here)
    return here if isinstance(here, type) and issubclass(here, BaseModel) else None


def _unwrapped(annotation: Any) -> Any:
    """Return the section in an annotation, or a tuple with the one of its items."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    found = [_unwrapped(argument) for argument in get_args(annotation)]
    inner = next((one for one in found if one is not None), None)
    return (inner,) if get_origin(annotation) in (tuple, dict) and inner is not None else inner
