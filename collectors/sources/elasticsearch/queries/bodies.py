"""Bodies of searches. They use only features of Elasticsearch 7.17 and later, and no scripts."""

from collections.abc import Sequence
from datetime import UTC, datetime

from collectors.logs.log_store import Window
from collectors.sources.elasticsearch.fields.field_map import FieldMap
from collectors.sources.elasticsearch.wire import Json, Scalar

Combination = tuple[tuple[str, Scalar], ...]  # (field, value); None: the document has no value

_TIME_FORMAT = "strict_date_optional_time"


def iso_time(when: datetime) -> str:
    """Return a time as Elasticsearch parses it, in milliseconds, the precision of `date` fields."""
    return when.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def in_window(fields: FieldMap, window: Window) -> Json:
    bounds = {"gte": iso_time(window.since), "lt": iso_time(window.until), "format": _TIME_FORMAT}
    return {"range": {fields.time: bounds}}


def in_any(filters: Sequence[Json]) -> Json:
    return {"bool": {"should": list(filters), "minimum_should_match": 1}}


def in_all(filters: Sequence[Json], *, but_not: Sequence[Json] = ()) -> Json:
    inside: Json = {"filter": list(filters)}
    if but_not:
        inside["must_not"] = list(but_not)
    return {"bool": inside}


def equal(field: str, values: Sequence[object]) -> Json:
    return {"terms": {field: list(values)}} if len(values) != 1 else {"term": {field: {"value": values[0]}}}


def lacking(field: str) -> Json:
    return {"bool": {"must_not": [{"exists": {"field": field}}]}}


def of_combination(combination: Combination) -> Json:
    """Return the filter of the documents with exactly these values."""
    return in_all(
        [lacking(field) if value is None else equal(field, [value]) for field, value in combination]
    )


def phrase(text: str, fields: FieldMap) -> Json:
    """Return the filter of the lines that contain this phrase."""
    names = fields.reading("message")
    return in_any([{"match_phrase": {name: {"query": text}}} for name in names])


def per_window(fields: FieldMap, windows: Sequence[Window]) -> Json:
    """Return an aggregation that counts the lines of each window, keyed by the window's number."""
    ranges = [
        {"key": str(number), "from": iso_time(window.since), "to": iso_time(window.until)}
        for number, window in enumerate(windows)
    ]
    return {"date_range": {"field": fields.time, "format": _TIME_FORMAT, "ranges": ranges, "keyed": True}}


def composite(names: Sequence[str], *, size: int, after: Json | None) -> Json:
    """Return an aggregation with a bucket for every combination of the fields' values, including missing ones."""
    sources = [
        {str(number): {"terms": {"field": name, "missing_bucket": True}}} for number, name in enumerate(names)
    ]
    inside: Json = {"size": size, "sources": sources}
    if after is not None:
        inside["after"] = after
    return {"composite": inside}


def shown(fields: FieldMap, by: Sequence[str] = ()) -> list[Json | str]:
    """Return the `fields` of a search's hits: time, text and labels, never whole documents."""
    names = {name for label in by for name in fields.exact.get(label, ())}
    return [{"field": fields.time, "format": _TIME_FORMAT}, *fields.reading("message"), *sorted(names)]


def newest_first(fields: FieldMap) -> list[Json]:
    return [{fields.time: {"order": "desc", "unmapped_type": "date"}}]
