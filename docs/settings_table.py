"""The table of settings, from the settings' types and the meanings in `meanings.yaml`."""

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
from collectors.facts.clock import format_duration

MEANINGS = Path(__file__).parent / "meanings.yaml"


class UnexplainedError(Exception):
    """A setting has no meaning in `meanings.yaml`, or the other way round."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """One key. `path` is as in the file: `[]` stands for each item of a list, `<name>` for each key of a map."""

    path: str
    type: str
    default: str
    meaning: str


def settings() -> list[Setting]:
    """Every setting, in the order of the schema. Raises UnexplainedError when meanings and settings differ."""
    meanings: dict[str, str] = yaml.safe_load(MEANINGS.read_text(encoding="utf-8"))
    found = list(_walk(Settings, "", meanings, ()))
    paths = {setting.path for setting in found}
    if unexplained := [setting.path for setting in found if not setting.meaning]:
        raise UnexplainedError(f"docs/meanings.yaml has no meaning for: {', '.join(unexplained)}")
    if gone := sorted(set(meanings) - paths):
        raise UnexplainedError(f"docs/meanings.yaml explains unknown settings: {', '.join(gone)}")
    return found


def settings_table() -> str:
    """The settings, as one Markdown table per top-level section."""
    sections: dict[str, list[Setting]] = {}
    for setting in settings():
        top = setting.path.partition(".")[0].partition("[")[0]
        sections.setdefault(top, []).append(setting)
    return "\n\n".join(_section(name, rows) for name, rows in sections.items())


def _section(name: str, rows: list[Setting]) -> str:
    lines = [f"### `{name}`", "", "| Key | Type | Default | Meaning |", "|---|---|---|---|"]
    lines += [f"| `{row.path}` | {row.type} | {row.default} | {_cell(row.meaning)} |" for row in rows]
    return "\n".join(lines)


def _walk(
    model: type[BaseModel], above: str, meanings: Mapping[str, str], parents: tuple[type[BaseModel], ...]
) -> Iterator[Setting]:
    for name, field in model.model_fields.items():
        path = f"{above}{field.alias or name}"
        inner, suffix = _inner(field.annotation)
        is_recursive = inner is not None and inner in (*parents, model)
        meaning = (meanings.get(path) or field.description or "").strip().rstrip(".")
        yield Setting(path=path, type=_type(field.annotation), default=_default(field), meaning=meaning)
        if inner is not None and not is_recursive:
            yield from _walk(inner, f"{path}{suffix}.", meanings, (*parents, model))


def _inner(annotation: Any) -> tuple[type[BaseModel] | None, str]:
    """The section that a value of this type holds, and the path suffix of its items."""
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
        return " or ".join(_type(argument) for argument in arguments if argument is not type(None))
    if origin is tuple:
        return f"list of {_type(arguments[0])}"
    if origin is dict:
        return f"map of {_type(arguments[1])}"
    if origin is Literal:
        return ", ".join(f"`{value}`" for value in arguments)
    if isinstance(annotation, str):
        return "section"
    names = {str: "string", bool: "boolean", int: "number", float: "number", timedelta: "duration",
             Path: "file", SecretStr: "secret"}  # fmt: skip
    if annotation in names:
        return names[annotation]
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return "section"
    if isinstance(annotation, type) and issubclass(annotation, Enum):
        return ", ".join(f"`{member.value}`" for member in annotation)
    return str(getattr(annotation, "__name__", annotation))


def _default(field: FieldInfo) -> str:
    value = field.get_default(call_default_factory=True)
    if value is PydanticUndefined:
        return "required"
    match value:
        case None | "" | () | {}:
            return ""
        case bool():
            return f"`{str(value).lower()}`"
        case timedelta():
            return f"`{format_duration(value)}`"
        case tuple():
            return f"`[{', '.join(str(item) for item in value)}]`"
        case BaseModel():
            return ""
        case _:
            return f"`{value}`"


def _cell(text: str) -> str:
    return (text[:1].upper() + text[1:]).replace("|", "\\|")
