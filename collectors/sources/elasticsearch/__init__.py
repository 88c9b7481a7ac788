"""The source to Elasticsearch."""

from collectors.sources.elasticsearch.hits import LogLine
from collectors.sources.elasticsearch.log_lines import ServerFacts
from collectors.sources.elasticsearch.options import (
    DEFAULT_FIELDS,
    Credentials,
    ElasticsearchOptions,
    fields_with,
)
from collectors.sources.elasticsearch.query_strings import escape_query, quote_query
from collectors.sources.elasticsearch.source import ElasticsearchSource

__all__ = [
    "DEFAULT_FIELDS",
    "Credentials",
    "ElasticsearchOptions",
    "ElasticsearchSource",
    "LogLine",
    "ServerFacts",
    "escape_query",
    "fields_with",
    "quote_query",
]
