"""Counts of log lines by their fields' values. The server counts."""

from collections.abc import AsyncIterator, Sequence

from collectors.facts.results import SourceError
from collectors.facts.sentences import listed, sentence
from collectors.logs.log_store import LineGroup, Window
from collectors.sources.elasticsearch.aggregations import CombinationBucket, Combinations, Windows
from collectors.sources.elasticsearch.client import ElasticsearchClient
from collectors.sources.elasticsearch.fields.field_map import FieldMap
from collectors.sources.elasticsearch.hits import labels_of
from collectors.sources.elasticsearch.queries.bodies import composite, in_any, of_combination, per_window
from collectors.sources.elasticsearch.wire import Json

_PAGE = 2_000  # buckets of one request
_COUNTS = ("key", "doc_count", "windows.buckets.*.doc_count")


def filter_of(group: LineGroup) -> Json:
    """Return the filter of a group's lines: its keys are combinations of values."""
    if not group.keys:
        return {"match_all": {}}
    return in_any([of_combination(combination) for combination in group.keys])


class Counting:
    """The counts of documents in each of some windows."""

    def __init__(self, client: ElasticsearchClient, fields: FieldMap, windows: Sequence[Window]) -> None:
        self._client = client
        self._fields = fields
        self._windows = windows

    async def groups(self, query: Json, by: Sequence[str], *, cap: int) -> AsyncIterator[LineGroup]:
        """Yield a group for each combination of the values of the labels' fields: one request per 2,000.

        Raises SourceError when there are more than `cap`, since the others would be missing.
        """
        names = list(dict.fromkeys(name for label in by for name in self._fields.grouping(label)))
        after: Json | None = None
        seen = 0
        while True:
            page: Json = {**composite(names, size=min(_PAGE, cap), after=after), **self._per_window}
            body: Json = {"size": 0, "track_total_hits": False, "query": query, "aggs": {"groups": page}}
            keep = [f"aggregations.groups.buckets.{path}" for path in _COUNTS]
            answer = await self._client.search(body, keep=[*keep, "aggregations.groups.after_key"])
            response = answer.aggregation("groups", Combinations)
            seen += len(response.buckets)
            for bucket in response.buckets:
                yield self._group(bucket, names, by)
            after = response.after_key
            if after is None or len(response.buckets) < min(_PAGE, cap):
                return
            if seen >= cap:
                raise SourceError(
                    sentence(
                        "more than {cap} groups by {by}: narrow `match` or group by fewer labels",
                        cap=cap,
                        by=listed(by),
                    ),
                    temporary=False,
                )

    async def ungrouped(self, query: Json) -> tuple[int, ...]:
        """Return the number of documents of the query in each window."""
        body: Json = {"size": 0, "track_total_hits": True, "query": query, **self._per_window}
        keep = ("hits.total.value", "aggregations.windows.buckets.*.doc_count")
        answer = await self._client.search(body, keep=keep)
        if len(self._windows) == 1:
            return (answer.total,)
        return answer.aggregation("windows", Windows).counts(len(self._windows))

    @property
    def _per_window(self) -> Json:
        """What counts by window; nothing for a single one."""
        if len(self._windows) == 1:
            return {}
        return {"aggs": {"windows": per_window(self._fields, self._windows)}}

    def _group(self, bucket: CombinationBucket, names: Sequence[str], by: Sequence[str]) -> LineGroup:
        values = {name: bucket.key.get(str(number)) for number, name in enumerate(names)}
        # Elasticsearch says of an object that it exists if any field of it does: `host` of another shipper, a name.
        combination = tuple(
            (name, value)
            for name, value in values.items()
            if value is not None or name not in self._fields.parents
        )
        windows = len(self._windows)
        return LineGroup(
            labels=labels_of(values, self._fields, by),
            counts=(bucket.doc_count,) if windows == 1 else (bucket.windows or Windows()).counts(windows),
            keys=(combination,),
        )
