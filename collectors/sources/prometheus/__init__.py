"""Prometheus as a source: PromQL queries."""
