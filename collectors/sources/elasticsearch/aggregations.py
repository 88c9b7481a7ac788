"""Aggregations in responses of Elasticsearch, decoded: `Search.aggregation` reads them. Pure."""

from typing import Any

import msgspec

from collectors.facts.results import SourceError
from collectors.facts.sentences import said_by, sentence
from collectors.sources.elasticsearch.wire import Count, Hits, Scalar


class _WindowCount(msgspec.Struct):
    doc_count: Count


class Windows(msgspec.Struct):
    """A keyed `date_range` aggregation: a count for each window, by the window's number."""

    buckets: dict[str, _WindowCount] = {}

    def counts(self, windows: int) -> tuple[int, ...]:
        try:
            return tuple(self.buckets[str(number)].doc_count for number in range(windows))
        except KeyError as error:
            raise SourceError(
                sentence("the response lacks the count of window {error}", error=said_by(error))
            ) from error


class CombinationBucket(msgspec.Struct):
    """The documents with one combination of values; `key` is by the number of the field."""

    key: dict[str, Scalar]
    doc_count: Count
    windows: Windows | None = None


class Combinations(msgspec.Struct):
    """A `composite` aggregation."""

    buckets: list[CombinationBucket] = []
    after_key: dict[str, Scalar] | None = None


class _Newest(msgspec.Struct):
    hits: Hits = msgspec.field(default_factory=Hits)


class _FilterBucket(msgspec.Struct):
    doc_count: Count = 0
    newest: _Newest = msgspec.field(default_factory=_Newest)


class Filters(msgspec.Struct):
    """A `filters` aggregation: the documents of each, or the newest of them."""

    buckets: dict[str, _FilterBucket] = {}

    def hits(self, name: str) -> list[Any]:
        return self.buckets[name].newest.hits.hits if name in self.buckets else []

    def count(self, name: str) -> int:
        return self.buckets[name].doc_count if name in self.buckets else 0
