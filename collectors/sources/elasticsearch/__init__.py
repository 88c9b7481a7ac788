"""Elasticsearch as a source: log searches and log lines."""

from collectors.sources.elasticsearch.options import (
    DEFAULT_FIELDS,
    Credentials,
    ElasticsearchOptions,
    fields_with,
)
from collectors.sources.elasticsearch.queries.query_strings import escape_query, quote_query
from collectors.sources.elasticsearch.source import ElasticsearchSource

__all__ = [
    "DEFAULT_FIELDS",
    "Credentials",
    "ElasticsearchOptions",
    "ElasticsearchSource",
    "escape_query",
    "fields_with",
    "quote_query",
]
