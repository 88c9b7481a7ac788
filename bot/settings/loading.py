"""Loading of the settings file: all errors at once, each with file and line."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from alerts.loading.node_reader import NodeReader, is_null
from alerts.loading.yaml_nodes import ListNode, MapNode, Node, ScalarNode, YamlError, documents
from alerts.rules import Diagnostic, FileLocation
from bot.settings.schema import Settings
from bot.settings.secrets import Secret, SecretError


class SettingsError(Exception):
    """The settings are invalid. `diagnostics` has every error."""

    def __init__(self, diagnostics: Sequence[Diagnostic]) -> None:
        super().__init__("\n".join(str(diagnostic) for diagnostic in diagnostics))
        self.diagnostics = tuple(diagnostics)


def read_settings(file: Path | None) -> Settings:
    """Read the file and the environment. Raises SettingsError with all diagnostics, which contain no secret."""
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
    """Return the errors of the files named for tokens, passwords and certificates, each with its setting."""
    errors: list[str] = []
    for name, value in settings:
        here = f"{path}.{name}" if path else name
        if isinstance(value, BaseModel):
            errors += unreadable_files(value, here)
        elif isinstance(value, tuple | list):
            for number, one in enumerate(value):
                if isinstance(one, BaseModel):
                    errors += unreadable_files(one, f"{here}.{number}")
        elif name.endswith("_file") and value:
            try:
                Secret(file=Path(value), has_lines=name in CERTIFICATES)()
            except SecretError as error:
                errors.append(f"{here}: {error}")
    return errors


def _parsed(file: Path) -> tuple[dict[str, Any], dict[tuple[str | int, ...], int]]:
    """Return the file's values, and the line of each by its path. Raises SettingsError."""
    try:
        text = file.read_text(encoding="utf-8")
        roots = documents(text)
    except (OSError, UnicodeDecodeError) as error:
        raise _error(file, f"cannot be read: {error}") from error
    except YamlError as error:
        raise _error(file, str(error), line=error.line, column=error.column) from None
    if len(roots) > 1:
        raise _error(file, "must be one document", line=roots[1].line)
    if not roots or is_null(roots[0]):
        return {}, {}
    root, reader = roots[0], NodeReader(file=str(file), text=text)
    raw = reader.value(root, "the settings")
    if reader.diagnostics:
        raise SettingsError(reader.diagnostics)
    if not isinstance(raw, dict):
        raise _error(file, "must be a mapping of settings", line=1)
    lines: dict[tuple[str | int, ...], int] = {}
    _collect_lines(root, (), lines)
    return raw, lines


def _error(file: Path, message: str, *, line: int = 0, column: int = 0) -> SettingsError:
    location = FileLocation(file=str(file), line=line, column=column)
    return SettingsError([Diagnostic(location=location, message=message)])


def _collect_lines(node: Node, path: tuple[str | int, ...], lines: dict[tuple[str | int, ...], int]) -> None:
    lines[path] = node.line
    if isinstance(node, MapNode):
        for key, value in node.pairs:
            if isinstance(key, ScalarNode):
                inner = (*path, key.text)
                _collect_lines(value, inner, lines)
                lines[inner] = key.line
    elif isinstance(node, ListNode):
        for number, value in enumerate(node.items):
            _collect_lines(value, (*path, number), lines)


def _diagnostic(error: Any, lines: dict[tuple[str | int, ...], int], where: str) -> Diagnostic:
    path = tuple(error["loc"])
    known = path
    while known and known not in lines:
        known = known[:-1]
    name = ".".join(str(part) for part in path)
    text = error["msg"].removeprefix("Value error, ")
    if error["type"] == "extra_forbidden":
        text = "unknown setting"
    return Diagnostic(
        location=FileLocation(file=where, line=lines.get(known, 0)),
        message=f"{name}: {text}" if name else text,
    )
