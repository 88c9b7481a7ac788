"""Which of the mapped fields recent lines really have: a shipper's template maps more than it fills."""

from collections.abc import Mapping

from collectors.sources.elasticsearch.aggregations import Filters
from collectors.sources.elasticsearch.bodies import Window, in_window
from collectors.sources.elasticsearch.client import ElasticsearchClient
from collectors.sources.elasticsearch.fields import FieldMap
from collectors.sources.elasticsearch.wire import Json


async def filled_fields(
    client: ElasticsearchClient, fields: FieldMap, window: Window
) -> Mapping[str, tuple[str, ...]]:
    """Return the fields of each label that lines of the window have, in one request. Raises SourceError."""
    names = sorted({name for names in fields.read.values() for name in names})
    exist: Json = {str(number): {"exists": {"field": name}} for number, name in enumerate(names)}
    body: Json = {
        "size": 0,
        "track_total_hits": False,
        "query": in_window(fields, window),
        "aggs": {"fields": {"filters": {"filters": exist}}},
    }
    answer = await client.search(body, keep=["aggregations.fields.buckets.*.doc_count"])
    counts = answer.aggregation("fields", Filters)
    held = {name for number, name in enumerate(names) if counts.count(str(number))}
    return {label: tuple(name for name in read if name in held) for label, read in fields.read.items()}
