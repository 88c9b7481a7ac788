"""Elasticsearch as a source: log searches and log lines. Its client is loaded with `source`, and by nothing else here."""
