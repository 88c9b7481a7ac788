"""The JSON schema of `settings` in the chart's values, from the program's own types.

It refuses unknown keys, values of a wrong type, and what a value alone shows to be wrong: a pack, a time zone, a
command or an address. What is missing, or wrong beside another value, is left to the chart's guards and to `check`,
which say more.
"""

from collections.abc import Mapping, Sequence
from importlib import resources
from typing import Any

from bot.evaluation.rulebook import pack_names
from bot.settings.schema import Settings

SET_BY_THE_CHART = ("http", "store")
_DROPPED = ("title", "default", "required", "format", "writeOnly")


def settings_schema() -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the schema of the settings without what the chart sets, and the definitions that it refers to."""
    known = {"pack": pack_names(), "timezone": _zones()}
    whole = _plain(Settings.model_json_schema(ref_template="#/definitions/{model}"), known)
    definitions = whole.pop("$defs")
    whole.pop("description", None)
    properties = {
        name: schema for name, schema in whole["properties"].items() if name not in SET_BY_THE_CHART
    }
    used = _used({"properties": properties}, definitions)
    return {**whole, "properties": properties}, {name: definitions[name] for name in sorted(used)}


def _zones() -> tuple[str, ...]:
    """Return the time zones of the package `tzdata`: those of this machine may be others."""
    return tuple(sorted((resources.files("tzdata") / "zones").read_text(encoding="utf-8").split()))


def _plain(schema: Any, known: Mapping[str, Sequence[str]]) -> Any:
    """Return the schema without what means nothing to Helm; names of properties are kept.

    A format whose values are known becomes their list. Others are left out: our durations are not those of ISO 8601.
    """
    if isinstance(schema, list):
        return [_plain(one, known) for one in schema]
    if not isinstance(schema, dict):
        return schema
    found: dict[str, Any] = {}
    for key, value in schema.items():
        if key in ("properties", "$defs"):
            found[key] = {name: _plain(one, known) for name, one in value.items()}
        elif key == "format" and value in known:
            found["enum"] = list(known[value])
        elif key not in _DROPPED:
            found[key] = _plain(value, known)
    return found


def _used(schema: Any, definitions: dict[str, Any]) -> set[str]:
    """Return the names of the definitions that a schema refers to, however deep."""
    found: set[str] = set()
    waiting = [schema]
    while waiting:
        one = waiting.pop()
        if isinstance(one, list):
            waiting += one
        elif isinstance(one, dict):
            waiting += one.values()
            name = str(one.get("$ref", "")).rpartition("/")[2]
            if name in definitions and name not in found:
                found.add(name)
                waiting.append(definitions[name])
    return found
