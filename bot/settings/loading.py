"""This file reads the settings file: every diagnostic at once, each with file and line."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, ValidationError

from alerts.rules import Diagnostic, FileLocation
from bot.settings.schema import Settings
from bot.settings.secrets import Secret, SecretError


class SettingsError(Exception):
    """The settings cannot be used. `diagnostics` are all that is wrong."""

    def __init__(self, diagnostics: Sequence[Diagnostic]) -> None:
        super().__init__("\n".join(str(diagnostic) for diagnostic in diagnostics))
        self.diagnostics = tuple(diagnostics)


def read_settings(file: Path | None) -> Settings:
    """The settings in the file and the environment. Raises SettingsError with all diagnostics; no secret is shown."""
    raw, lines = _parsed(file) if file is not None else ({}, {})
    try:
        return Settings(**raw)
    except ValidationError as error:
        where = str(file) if file is not None else "environment"
        raise SettingsError(
            [_diagnostic(one, lines, where) for one in error.errors(include_input=False)]
        ) from None


CERTIFICATES = frozenset({"ca_file", "cert_file", "key_file"})


def unreadable_files(settings: BaseModel, path: str = "") -> list[str]:
    """What is wrong with the files that the settings name for tokens, passwords and certificates, with the setting."""
    wrong: list[str] = []
    for name, value in settings:
        here = f"{path}.{name}" if path else name
        if isinstance(value, BaseModel):
            wrong += unreadable_files(value, here)
        elif isinstance(value, tuple | list):
            for number, one in enumerate(value):
                if isinstance(one, BaseModel):
                    wrong += unreadable_files(one, f"{here}.{number}")
        elif name.endswith("_file") and value:
            try:
                Secret(file=Path(value), has_lines=name in CERTIFICATES)()
            except SecretError as why:
                wrong.append(f"{here}: {why}")
    return wrong


def _parsed(file: Path) -> tuple[dict[str, Any], dict[tuple[str | int, ...], int]]:
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(
            [Diagnostic(location=FileLocation(file=str(file)), message=f"cannot be read: {error}")]
        ) from error
    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
        raw = yaml.safe_load(text)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        place = FileLocation(
            file=str(file), line=mark.line + 1 if mark else 0, column=mark.column + 1 if mark else 0
        )
        raise SettingsError(
            [Diagnostic(location=place, message=f"is not YAML: {getattr(error, 'problem', error)}")]
        ) from error
    if raw is None:
        return {}, {}
    if not isinstance(raw, dict):
        raise SettingsError(
            [
                Diagnostic(
                    location=FileLocation(file=str(file), line=1), message="has to be a mapping of settings"
                )
            ]
        )
    lines: dict[tuple[str | int, ...], int] = {}
    _note_lines(root, (), lines)
    return {str(key): value for key, value in raw.items()}, lines


def _note_lines(
    node: yaml.Node | None, path: tuple[str | int, ...], lines: dict[tuple[str | int, ...], int]
) -> None:
    if node is None:
        return
    lines[path] = node.start_mark.line + 1
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            inner = (*path, str(key.value))
            _note_lines(value, inner, lines)
            lines[inner] = key.start_mark.line + 1
    elif isinstance(node, yaml.SequenceNode):
        for number, value in enumerate(node.value):
            _note_lines(value, (*path, number), lines)


def _diagnostic(error: Any, lines: dict[tuple[str | int, ...], int], where: str) -> Diagnostic:
    path = tuple(error["loc"])
    known = path
    while known and known not in lines:
        known = known[:-1]
    name = ".".join(str(part) for part in path)
    what = error["msg"].removeprefix("Value error, ")
    if error["type"] == "extra_forbidden":
        what = "there is no such setting"
    return Diagnostic(
        location=FileLocation(file=where, line=lines.get(known, 0)),
        message=f"{name}: {what}" if name else what,
    )
