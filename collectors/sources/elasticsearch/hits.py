"""Log lines in hits of a search, decoded."""

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime

from collectors.facts.labels import Labels
from collectors.facts.sentences import sentence
from collectors.logs.line_labels import label_value
from collectors.logs.stored_lines import StoredLine, stored_line
from collectors.sources.elasticsearch.fields.field_map import FieldMap
from collectors.sources.elasticsearch.wire import Hit, Scalar


def line_of(hit: Hit, fields: FieldMap, by: Sequence[str], redact: Callable[[str], str]) -> StoredLine:
    """Return the line in a hit of a search with the `fields` of `bodies.shown`. Raises ValueError without its time."""
    names = [name for label in by for name in fields.exact.get(label, ())]
    written = hit.first(*fields.reading("message"))
    return stored_line(
        "" if written is None else str(written),
        _time_of(hit, fields),
        labels_of({name: hit.first(name) for name in names}, fields, by),
        redact=redact,
        fields=tuple(hit.fields),
    )


def labels_of(values: Mapping[str, Scalar], fields: FieldMap, by: Sequence[str]) -> Labels:
    """Return the labels from the fields' values."""
    return Labels(
        {
            label: label_value(
                label, [values.get(name) for name in fields.exact.get(label, ())], fields.node_of
            )
            for label in by
        }
    )


def _time_of(hit: Hit, fields: FieldMap) -> datetime:
    at = hit.first(fields.time)
    try:
        return datetime.fromisoformat(str(at)).astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise ValueError(
            sentence("`{time}` of a hit is missing or is not a time", time=fields.time)
        ) from error
