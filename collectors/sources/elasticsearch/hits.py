"""This file reads hits: when a line was written, what it says, and whose it is in our words."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from collectors.facts.labels import Labels
from collectors.facts.patterns import sound
from collectors.sources.elasticsearch.fields import FieldMap


@dataclass(frozen=True, slots=True, kw_only=True)
class LogLine:
    """One log line. `labels` are our words (node, pod, namespace, …) as far as they are known; `text` is redacted."""

    at: datetime
    text: str
    labels: Labels


def line_of(
    hit: Mapping[str, Any], fields: FieldMap, words: Sequence[str], redact: Callable[[str], str]
) -> LogLine:
    """The line in a hit that was asked for with `bodies.shown`."""
    when = _first(hit, (fields.time,))
    return LogLine(
        at=datetime.fromisoformat(str(when)).astimezone(UTC),
        text=redact(str(_first(hit, fields.reading("message")) or "")),
        labels=labels_of({name: _first(hit, (name,)) for name in _names(fields, words)}, fields, words),
    )


def labels_of(values: Mapping[str, object], fields: FieldMap, words: Sequence[str]) -> Labels:
    """Our words from the fields' values: of a word's fields the first that has one counts."""
    found: dict[str, str] = {}
    for word in words:
        held = (values.get(name) for name in fields.exact.get(word, ()))
        found[word] = next((sound(str(value)) for value in held if value not in (None, "")), "")
    return Labels(found)


def cut(text: str, limit: int) -> str:
    """The text in at most `limit` characters; what is missing shows as `…`."""
    plain = text.strip()
    return plain if len(plain) <= limit else plain[: limit - 1] + "…"


def distinct(texts: Iterable[str]) -> tuple[str, ...]:
    """The texts without repeats: a kernel line often arrives twice, from the journal and from a file."""
    return tuple(dict.fromkeys(text for text in texts if text))


def _names(fields: FieldMap, words: Sequence[str]) -> set[str]:
    return {name for word in words for name in fields.exact.get(word, ())}


def _first(hit: Mapping[str, Any], names: Iterable[str]) -> object:
    """The first value of the first field that has one. A text too long for its keyword field is kept apart."""
    for part in ("fields", "ignored_field_values"):
        for name in names:
            if values := hit.get(part, {}).get(name):
                first: object = values[0]
                return first
    return None
