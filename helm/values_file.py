"""values.yaml read with its comments: a sentence and a schema note for each value."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

_SENTENCE, _NOTE = "# -- ", "# @schema "


@dataclass(frozen=True, slots=True, kw_only=True)
class Value:
    """A value of the chart. `path` is as `--set` writes it."""

    path: str
    default: object
    sentence: str
    schema: dict[str, Any]


class ValuesError(Exception):
    """A value lacks its sentence or its schema note."""


def read_values(file: Path) -> list[Value]:
    """All values, in the order of the file. Raises ValuesError for one without its comments."""
    text = file.read_text(encoding="utf-8")
    root = yaml.compose(text, Loader=yaml.SafeLoader)
    assert isinstance(root, yaml.MappingNode)
    return _values(root, "", text.splitlines())


def schema_of(values: list[Value]) -> dict[str, Any]:
    """One JSON schema of all values; it refuses values that are not in the file."""
    root: dict[str, Any] = {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "type": "object",
        "additionalProperties": False,
        "properties": {"global": {"type": "object"}},  # Helm's own
    }
    for value in values:
        *parents, name = value.path.split(".")
        inner = root
        for parent in parents:
            empty = {"type": "object", "additionalProperties": False, "properties": {}}
            inner = inner["properties"].setdefault(parent, empty)
        inner["properties"][name] = {"description": value.sentence, **value.schema}
    return root


def _values(node: yaml.MappingNode, above: str, lines: list[str]) -> list[Value]:
    found: list[Value] = []
    for key, inner in node.value:
        path = f"{above}{key.value}"
        sentence, note = _comments(lines, key.start_mark.line)
        if note:
            if not sentence:
                raise ValuesError(f"{path} has a schema note but no sentence (`{_SENTENCE}…`)")
            default = yaml.safe_load(yaml.serialize(inner))
            found.append(Value(path=path, default=default, sentence=sentence, schema=yaml.safe_load(note)))
        elif isinstance(inner, yaml.MappingNode) and inner.value:
            found += _values(inner, f"{path}.", lines)
        else:
            raise ValuesError(f"{path} has no schema note (`{_NOTE}…`)")
    return found


def _comments(lines: list[str], at: int) -> tuple[str, str]:
    """The sentence and the note directly above a line."""
    block: list[str] = []
    while at > 0 and lines[at - 1].strip().startswith("#"):
        at -= 1
        block.insert(0, lines[at].strip())
    starts = [number for number, line in enumerate(block) if line.startswith(_SENTENCE)]
    note = next((line.removeprefix(_NOTE) for line in block if line.startswith(_NOTE)), "")
    if not starts:
        return "", note
    sentence = [line for line in block[starts[-1] :] if not line.startswith(_NOTE)]
    return " ".join(line.removeprefix(_SENTENCE).removeprefix("# ") for line in sentence), note
