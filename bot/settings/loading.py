"""Loading of the settings file: all errors at once, each with file and line."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from alerts.loading.node_reader import NodeReader, is_null
from alerts.loading.yaml_nodes import ListNode, MapNode, Node, ScalarNode, YamlError, documents
from alerts.rules import Diagnostic, FileLocation
from bot.settings.channels import channel_error
from bot.settings.schema import RouteSettings, Settings
from bot.settings.secrets import Secret, SecretError

KeyPath = tuple[str | int, ...]  # such as routes, 0, match


class SettingsError(Exception):
    """The settings are invalid. `diagnostics` has every error."""

    def __init__(self, diagnostics: Sequence[Diagnostic]) -> None:
        super().__init__("\n".join(str(diagnostic) for diagnostic in diagnostics))
        self.diagnostics = tuple(diagnostics)


def read_settings(file: Path | None) -> Settings:
    """Read the file and the environment. Raises SettingsError with all diagnostics, which contain no secret."""
    raw, lines = _parsed(file) if file is not None else ({}, {})
    where = str(file) if file is not None else "environment"
    try:
        settings = Settings(**raw)
    except ValidationError as error:
        found = [(tuple(one["loc"]), _text(one)) for one in error.errors(include_input=False)]
        raise SettingsError([_diagnostic(path, text, lines, where) for path, text in found]) from None
    unknown = list(_unknown_channels(settings.routes, settings, ("routes",)))
    for name, team in settings.teams.items():
        if team.channel and (
            reason := channel_error(team.channel, slack=settings.slack, channels=settings.channels)
        ):
            unknown.append((("teams", name, "channel"), reason))
    if unknown:
        raise SettingsError([_diagnostic(path, text, lines, where) for path, text in unknown])
    return settings


def _unknown_channels(
    routes: Iterable[RouteSettings], settings: Settings, path: KeyPath
) -> Iterator[tuple[KeyPath, str]]:
    """Yield each route's channel that the settings do not have, with the reason."""
    for number, route in enumerate(routes):
        for place, channel in enumerate(route.channels):
            if reason := channel_error(channel, slack=settings.slack, channels=settings.channels):
                yield (*path, number, "channels", place), reason
        yield from _unknown_channels(route.routes, settings, (*path, number, "routes"))


CERTIFICATES = frozenset({"ca_file", "cert_file", "key_file"})


def unreadable_files(settings: BaseModel, path: str = "") -> list[str]:
    """Return the errors of the files named for tokens, passwords and certificates, each with its setting."""
    errors: list[str] = []
    for name, value in settings:
        here = f"{path}.{name}" if path else name
        if isinstance(value, BaseModel):
            errors += unreadable_files(value, here)
        elif isinstance(value, tuple | dict):
            inner = value.items() if isinstance(value, dict) else enumerate(value)
            for key, one in inner:
                if isinstance(one, BaseModel):
                    errors += unreadable_files(one, f"{here}.{key}")
        elif name.endswith("_file") and value:
            try:
                Secret(file=Path(value), has_lines=name in CERTIFICATES)()
            except SecretError as error:
                errors.append(f"{here}: {error}")
    return errors


def _parsed(file: Path) -> tuple[dict[str, Any], dict[KeyPath, int]]:
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
    lines: dict[KeyPath, int] = {}
    _collect_lines(root, (), lines)
    return raw, lines


def _error(file: Path, message: str, *, line: int = 0, column: int = 0) -> SettingsError:
    location = FileLocation(file=str(file), line=line, column=column)
    return SettingsError([Diagnostic(location=location, message=message)])


def _collect_lines(node: Node, path: KeyPath, lines: dict[KeyPath, int]) -> None:
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


def _text(error: Any) -> str:
    if error["type"] == "extra_forbidden":
        return "unknown setting"
    return str(error["msg"]).removeprefix("Value error, ")


def _diagnostic(path: KeyPath, text: str, lines: Mapping[KeyPath, int], where: str) -> Diagnostic:
    known = path
    while known and known not in lines:
        known = known[:-1]
    name = ".".join(str(part) for part in path)
    return Diagnostic(
        location=FileLocation(file=where, line=lines.get(known, 0)),
        message=f"{name}: {text}" if name else text,
    )
