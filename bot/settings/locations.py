"""The location of each setting: a line of the file, or an environment variable."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from alerts.loading.node_reader import NodeReader, is_null
from alerts.loading.yaml_nodes import ListNode, MapNode, ScalarNode, YamlError, YamlNode, documents
from alerts.rules import Diagnostic, FileLocation

KeyPath = tuple[str | int, ...]  # such as routes, 0, match

PREFIX = "YARDMASTER_"


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingsFile:
    """The values of a settings file, the line of each by its path, and what is wrong with the file as YAML.

    `values` is None when nothing of it can be read. Without a file: no values, and the environment's location.
    """

    name: str = "environment"
    values: Mapping[str, Any] | None = field(default_factory=dict)
    lines: Mapping[KeyPath, int] = field(default_factory=dict)
    diagnostics: tuple[Diagnostic, ...] = ()

    def location(self, path: KeyPath) -> FileLocation:
        """Return where a setting, or the nearest section around it, was given."""
        if variable := environment_variable(path):
            return FileLocation(file=variable)
        known = path
        while known and known not in self.lines:
            known = known[:-1]
        return FileLocation(file=self.name, line=self.lines.get(known, 0))

    def diagnostic(self, path: KeyPath, text: str) -> Diagnostic:
        """Return an error of a setting, with its path in front."""
        name = ".".join(str(part) for part in path)
        return Diagnostic(location=self.location(path), message=f"{name}: {text}" if name else text)


def environment_variable(path: KeyPath) -> str:
    """Return the environment variable that gives this setting or the section around it; empty if none does."""
    given = {name.upper(): name for name in os.environ}
    while path:
        if found := given.get(PREFIX + "__".join(str(part) for part in path).upper()):
            return found
        path = path[:-1]
    return ""


def part_of(value: Any, part: str | int, otherwise: Any = None) -> Any:
    """Return the value of a key, or of an item by its number; `otherwise` if there is none."""
    if isinstance(value, Mapping):
        return value.get(part, otherwise)
    if isinstance(value, list | tuple) and isinstance(part, int) and part < len(value):
        return value[part]
    return otherwise


def read_file(file: Path | None) -> SettingsFile:
    """Read the settings file, as far as it can be read."""
    if file is None:
        return SettingsFile()
    try:
        text = file.read_text(encoding="utf-8")
        roots = documents(text)
    except OSError as error:
        return _unreadable(file, f"cannot be read: {error.strerror}")
    except UnicodeDecodeError:
        return _unreadable(file, "cannot be read: it is not UTF-8 text")
    except YamlError as error:
        return _unreadable(file, str(error), line=error.line, column=error.column)
    if len(roots) > 1:
        return _unreadable(file, "must be one document", line=roots[1].line)
    if not roots or is_null(roots[0]):
        return _unreadable(file, "has no settings: begin with `clusters`, as the README shows")
    root, reader = roots[0], NodeReader(file=str(file), text=text)
    values = reader.value(root, "the settings")
    if not isinstance(values, dict):
        return _unreadable(file, "must be a mapping of settings", line=1)
    lines: dict[KeyPath, int] = {}
    _collect_lines(root, (), lines)
    return SettingsFile(name=str(file), values=values, lines=lines, diagnostics=reader.diagnostics)


def _unreadable(file: Path, message: str, *, line: int = 0, column: int = 0) -> SettingsFile:
    location = FileLocation(file=str(file), line=line, column=column)
    return SettingsFile(
        name=str(file), values=None, diagnostics=(Diagnostic(location=location, message=message),)
    )


def _collect_lines(node: YamlNode, path: KeyPath, lines: dict[KeyPath, int]) -> None:
    lines.setdefault(path, node.line)
    if isinstance(node, MapNode):
        for key, value in node.pairs:
            if (
                isinstance(key, ScalarNode) and (inner := (*path, key.text)) not in lines
            ):  # the first one counts
                lines[inner] = key.line
                _collect_lines(value, inner, lines)
    elif isinstance(node, ListNode):
        for number, value in enumerate(node.items):
            _collect_lines(value, (*path, number), lines)
