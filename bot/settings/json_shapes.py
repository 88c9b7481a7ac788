"""JSON schemas of settings' values, from which the chart's values get theirs."""

from collections.abc import Iterable

from pydantic import WithJsonSchema


def shaped(pattern: str) -> WithJsonSchema:
    """Return the JSON schema of a text, from which the chart's values get theirs: it sees no more than one value."""
    return WithJsonSchema({"type": "string", "pattern": pattern})


def one_of(values: Iterable[str]) -> WithJsonSchema:
    return WithJsonSchema({"type": "string", "enum": list(values)})
