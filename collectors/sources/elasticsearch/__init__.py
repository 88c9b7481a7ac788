"""Elasticsearch as a source: log searches and log lines. Only `source` loads its client library."""
