"""Loading of the settings: every error at once, each with its location."""

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from pydantic_settings import SettingsError as InvalidVariableError

from alerts.rules import Diagnostic, FileLocation
from bot.settings.cross_checks import cross_checks
from bot.settings.error_texts import path_of, text_of
from bot.settings.locations import PREFIX, KeyPath, SettingsFile, environment_variable, part_of, read_file
from bot.settings.schema import Settings

_ABSENT = object()
_MOST_PASSES = 50  # each leaves out what the one before found


class SettingsError(Exception):
    """The settings are invalid. `diagnostics` has every error."""

    def __init__(self, diagnostics: Sequence[Diagnostic]) -> None:
        super().__init__("\n".join(str(diagnostic) for diagnostic in diagnostics))
        self.diagnostics = tuple(diagnostics)


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedSettings:
    """Settings without what is wrong in them, every error, and where each setting was given.

    `settings` is None when what is left cannot be used to check more.
    """

    settings: Settings | None
    file: SettingsFile
    diagnostics: tuple[Diagnostic, ...] = ()
    left_out: frozenset[KeyPath] = frozenset()

    def diagnostic(self, path: KeyPath, text: str) -> Diagnostic:
        """Return an error of a setting, from its path in `settings`."""
        return self.file.diagnostic(_original(path, self.file.values, self.left_out), text)


def read_settings(file: Path | None) -> Settings:
    """Read the file and the environment. Raises SettingsError with all diagnostics, which contain no secret."""
    loaded = load_settings(file)
    if loaded.diagnostics or loaded.settings is None:
        raise SettingsError(loaded.diagnostics)
    return loaded.settings


def load_settings(file: Path | None) -> LoadedSettings:
    """Read the file and the environment as far as they are valid. No error contains a secret.

    What the schema refuses is left out and the rest is validated again, so that one error hides no other.
    """
    given = read_file(file)
    found = list(given.diagnostics)
    if given.values is None:
        return LoadedSettings(settings=None, file=given, diagnostics=tuple(found))
    if file is None and not _has_environment():
        location = FileLocation(file="settings")
        text = "there are none: name a file with --config or YARDMASTER_CONFIG"
        return LoadedSettings(
            settings=None, file=given, diagnostics=(Diagnostic(location=location, message=text),)
        )
    settings: Settings | None = None
    left_out: frozenset[KeyPath] = frozenset()
    for _ in range(_MOST_PASSES):
        values = _without(given.values, left_out, ())
        try:
            settings = Settings(**values)
        except InvalidVariableError as error:
            found.append(_bad_variable(error))
            break
        except ValidationError as error:
            wrong = _errors(error, given, values, left_out)
            found += [
                given.diagnostic(path, text)
                for path, text in wrong.items()
                if not _is_of_what_is_left_out(path, left_out)
            ]
            more = {_to_leave_out(path, given.values, left_out) for path in wrong} - {()}
            if not more - left_out or any(environment_variable(path) for path in wrong):
                break
            left_out |= more
            continue
        break
    if settings is not None:
        sections = frozenset(str(path[0]) for path in left_out)
        for path, text in cross_checks(settings, left_out=sections):
            found.append(given.diagnostic(_original(path, given.values, left_out), text))
    return LoadedSettings(settings=settings, file=given, diagnostics=tuple(_sorted(found)), left_out=left_out)


def _errors(
    error: ValidationError, given: SettingsFile, values: Any, left_out: frozenset[KeyPath]
) -> dict[KeyPath, str]:
    """Return the text of each error by its path in the file; alternatives of one value are one error."""
    wrong: dict[KeyPath, str] = {}
    for one in error.errors(include_input=False, include_url=False):
        path = path_of(one, values)
        original = _original(path, given.values, left_out)
        text = text_of(one, path, Settings)
        if original in wrong and wrong[original] != text:
            if one["type"] == "value_error":
                wrong[original] = text
            continue
        wrong[original] = text
    return wrong


def _is_of_what_is_left_out(path: KeyPath, left_out: frozenset[KeyPath]) -> bool:
    """Return whether a section is wrong, perhaps only because a part of it was left out."""
    return any(one[: len(path)] == path for one in left_out)


def _to_leave_out(path: KeyPath, values: Any, left_out: frozenset[KeyPath]) -> KeyPath:
    """Return the part of the file without which the error is gone: the setting, or the section that lacks it."""
    if path in left_out:
        return path[:-1]
    here: Any = values
    for number, part in enumerate(path):
        here = part_of(here, part, _ABSENT)
        if here is _ABSENT:
            return path[:number]
    return path


def _without(value: Any, left_out: frozenset[KeyPath], path: KeyPath) -> Any:
    if isinstance(value, Mapping):
        kept = {key: inner for key, inner in value.items() if (*path, key) not in left_out}
        return {key: _without(inner, left_out, (*path, key)) for key, inner in kept.items()}
    if isinstance(value, list | tuple):
        return tuple(
            _without(inner, left_out, (*path, number))
            for number, inner in enumerate(value)
            if (*path, number) not in left_out
        )
    return value


def _original(path: KeyPath, values: Any, left_out: frozenset[KeyPath]) -> KeyPath:
    """Return the path in the file of a path in the values without what is left out: numbers of items shift."""
    found: KeyPath = ()
    here: Any = values
    for part in path:
        if isinstance(here, list | tuple) and isinstance(part, int):
            kept = [number for number in range(len(here)) if (*found, number) not in left_out]
            part = kept[part] if part < len(kept) else part
        found = (*found, part)
        here = part_of(here, part)
    return found


def _has_environment() -> bool:
    return any(environment_variable((name,)) or _has_part(name) for name in Settings.model_fields)


def _has_part(name: str) -> bool:
    return any(variable.upper().startswith(f"{PREFIX}{name.upper()}__") for variable in os.environ)


def _bad_variable(error: Exception) -> Diagnostic:
    """Return the error of a variable that must be JSON, without its value."""
    name = re.search(r'field "([^"]+)"', str(error))
    variable = environment_variable((name[1],)) if name else ""
    return Diagnostic(
        location=FileLocation(file=variable or "environment"),
        message="must be JSON, because the setting is a list or a section",
    )


def _sorted(found: Sequence[Diagnostic]) -> list[Diagnostic]:
    return sorted(dict.fromkeys(found), key=lambda one: (one.location.file, one.location.line))
