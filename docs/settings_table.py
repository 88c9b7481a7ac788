"""This file makes the table of settings from the settings' own types, and their meanings from `meanings.yaml`."""

import types
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import yaml
from pydantic import BaseModel, SecretStr
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from bot.settings.schema import Settings
from collectors.facts.clock import written

MEANINGS = Path(__file__).parent / "meanings.yaml"


class UnexplainedError(Exception):
    """A setting has no meaning in `meanings.yaml`, or the other way round."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """One key. `path` is as in the file: `[]` stands for each item of a list, `<name>` for each key of a mapping."""

    path: str
    type: str
    default: str
    meaning: str


def settings() -> list[Setting]:
    """Every setting, in the order of the file. Raises UnexplainedError where words and settings differ."""
    meanings: dict[str, str] = yaml.safe_load(MEANINGS.read_text(encoding="utf-8"))
    found = list(_walk(Settings, "", meanings, ()))
    paths = {setting.path for setting in found}
    if silent := [setting.path for setting in found if not setting.meaning]:
        raise UnexplainedError(f"no meaning in docs/meanings.yaml for: {', '.join(silent)}")
    if gone := sorted(set(meanings) - paths):
        raise UnexplainedError(f"docs/meanings.yaml explains what is no setting: {', '.join(gone)}")
    return found


def settings_table() -> str:
    """The settings as one Markdown table for each part."""
    parts: dict[str, list[Setting]] = {}
    for setting in settings():
        top = setting.path.partition(".")[0].partition("[")[0]
        parts.setdefault(top, []).append(setting)
    return "\n\n".join(_part(name, rows) for name, rows in parts.items())


def _part(name: str, rows: list[Setting]) -> str:
    lines = [f"### `{name}`", "", "| Key | Type | Default | Meaning |", "|---|---|---|---|"]
    lines += [f"| `{row.path}` | {row.type} | {row.default} | {_cell(row.meaning)} |" for row in rows]
    return "\n".join(lines)


def _walk(
    model: type[BaseModel], above: str, meanings: Mapping[str, str], around: tuple[type[BaseModel], ...]
) -> Iterator[Setting]:
    for name, field in model.model_fields.items():
        path = f"{above}{field.alias or name}"
        inner, suffix = _inner(field.annotation)
        is_again = inner is not None and inner in (*around, model)
        meaning = (meanings.get(path) or field.description or "").strip().rstrip(".")
        yield Setting(path=path, type=_type(field.annotation), default=_default(field), meaning=meaning)
        if inner is not None and not is_again:
            yield from _walk(inner, f"{path}{suffix}.", meanings, (*around, model))


def _inner(annotation: Any) -> tuple[type[BaseModel] | None, str]:
    """The part that a value of this type holds, and how its items are written."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation, ""
    for argument in get_args(annotation):
        found, _ = _inner(argument)
        if found is not None:
            origin = get_origin(annotation)
            return found, "[]" if origin is tuple else ".<name>" if origin is dict else ""
    return None, ""


def _type(annotation: Any) -> str:
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _type(arguments[0])
    if origin in (Union, types.UnionType):
        return " or ".join(_type(one) for one in arguments if one is not type(None))
    if origin is tuple:
        return f"list of {_type(arguments[0])}"
    if origin is dict:
        return f"mapping of {_type(arguments[1])}"
    if origin is Literal:
        return ", ".join(f"`{one}`" for one in arguments)
    if isinstance(annotation, str):
        return "part"
    names = {str: "text", bool: "true or false", int: "number", float: "number", timedelta: "duration",
             Path: "file", SecretStr: "secret"}  # fmt: skip
    if annotation in names:
        return names[annotation]
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return "part"
    if isinstance(annotation, type) and issubclass(annotation, Enum):
        return ", ".join(f"`{one.value}`" for one in annotation)
    return str(getattr(annotation, "__name__", annotation))


def _default(field: FieldInfo) -> str:
    value = field.get_default(call_default_factory=True)
    if value is PydanticUndefined:
        return "must be set"
    match value:
        case None | "" | () | {}:
            return ""
        case bool():
            return f"`{str(value).lower()}`"
        case timedelta():
            return f"`{written(value)}`"
        case tuple():
            return f"`[{', '.join(str(one) for one in value)}]`"
        case BaseModel():
            return ""
        case _:
            return f"`{value}`"


def _cell(text: str) -> str:
    return (text[:1].upper() + text[1:]).replace("|", "\\|")
