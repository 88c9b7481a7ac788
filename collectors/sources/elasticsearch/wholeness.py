"""This file judges whether an answer of Elasticsearch is whole. A partial one must never pass for an answer."""

from collections.abc import Mapping
from typing import Any

from collectors.facts.results import SourceError

_CUT = 300  # characters of a server's own words


def must_be_whole(answer: Mapping[str, Any], index: str) -> None:
    """Return for a whole answer; raise SourceError for one that lacks a shard, a cluster or the end of the work."""
    if answer.get("timed_out"):
        raise SourceError(
            f"the search in `{index}` ran out of time and was cut short: narrow `match` or `over`"
        )
    clusters = answer.get("_clusters")
    if isinstance(clusters, Mapping):
        missing = {word: count for word in ("skipped", "partial", "failed") if (count := clusters.get(word))}
        if missing:
            words = ", ".join(f"{count} {word}" for word, count in missing.items())
            raise SourceError(f"the search in `{index}` did not reach every remote cluster: {words}")
    shards = answer.get("_shards")
    if not isinstance(shards, Mapping) or "total" not in shards:
        raise SourceError(
            f"the answer for `{index}` does not say which shards it covers, so it counts for nothing"
        )
    if failed := shards.get("failed"):
        why = reason_of({"error": {"root_cause": [one.get("reason") for one in shards.get("failures", ())]}})
        raise SourceError(f"{failed} of {shards['total']} shards of `{index}` failed: {why}")
    if not shards["total"]:
        raise SourceError(
            f"no index matches `{index}`: check elasticsearch.index and the shipper", temporary=False
        )


def reason_of(body: object) -> str:
    """The server's own words for what is wrong, cut short; it may repeat parts of the question."""
    error = body.get("error") if isinstance(body, Mapping) else None
    if isinstance(error, str):
        return error[:_CUT]
    if not isinstance(error, Mapping):
        return "no reason given"
    for cause in (*(error.get("root_cause") or ()), error):
        if isinstance(cause, Mapping) and cause.get("reason"):
            return str(cause["reason"])[:_CUT]
    return str(error.get("type") or "no reason given")[:_CUT]
