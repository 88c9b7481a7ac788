"""Matches of log lines, short to write."""

from collectors.facts.log_match import FieldPhrase, StoreMatch


def message(text: str) -> FieldPhrase:
    """Return the match of the lines whose message has this phrase."""
    return FieldPhrase(field="message", text=text)


def query_string(text: str) -> StoreMatch:
    """Return a match in Elasticsearch's own syntax."""
    return StoreMatch(store="elasticsearch", text=text)
