"""Queries in Elasticsearch's own language: windows, levels, matches, query strings. Pure."""
