"""The JSON schema of `settings` in the chart's values, from the program's own types.

It refuses unknown keys and values of a wrong type. What is missing is left to the chart's guards and to `check`, which
say more. Formats are left out, because our durations are not those of ISO 8601.
"""

from typing import Any

from bot.settings.schema import Settings

SET_BY_THE_CHART = ("http", "store")
_DROPPED = ("title", "default", "required", "format", "writeOnly")


def settings_schema() -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the schema of the settings without what the chart sets, and the definitions that it refers to."""
    whole = _plain(Settings.model_json_schema(ref_template="#/definitions/{model}"))
    definitions = whole.pop("$defs")
    whole.pop("description", None)
    properties = {
        name: schema for name, schema in whole["properties"].items() if name not in SET_BY_THE_CHART
    }
    used = _used({"properties": properties}, definitions)
    return {**whole, "properties": properties}, {name: definitions[name] for name in sorted(used)}


def _plain(schema: Any) -> Any:
    """Return the schema without what means nothing to Helm; names of properties are kept."""
    if isinstance(schema, list):
        return [_plain(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    found = {}
    for key, value in schema.items():
        if key in ("properties", "$defs"):
            found[key] = {name: _plain(one) for name, one in value.items()}
        elif key not in _DROPPED:
            found[key] = _plain(value)
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
