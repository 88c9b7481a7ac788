"""This file counts log lines by groups, on the server: no line is fetched to be counted."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from collectors.facts.labels import Labels
from collectors.facts.results import SourceError
from collectors.sources.elasticsearch.bodies import (
    Combination,
    Json,
    Window,
    composite,
    in_all,
    in_any,
    in_window,
    of_combination,
    per_window,
)
from collectors.sources.elasticsearch.client import ElasticsearchClient
from collectors.sources.elasticsearch.fields import FieldMap
from collectors.sources.elasticsearch.hits import labels_of
from collectors.sources.elasticsearch.log_search import LogSearch

_PAGE = 2_000  # buckets of one call
_COUNTS = ("key", "doc_count", "windows.buckets.*.doc_count")


@dataclass(frozen=True, slots=True, kw_only=True)
class LineGroup:
    """The lines with the same values of our words.

    `counts`: how many fell into each window. `combinations`: the fields' values that make up the group; more than
    one when shippers put the same word into different fields.
    """

    labels: Labels
    counts: tuple[int, ...]
    combinations: tuple[Combination, ...] = ()

    @property
    def count(self) -> int:
        """Of the first window."""
        return self.counts[0]

    def filter(self) -> Json:
        """The filter of this group's lines."""
        if not self.combinations:
            return {"match_all": {}}
        return in_any([of_combination(combination) for combination in self.combinations])


async def groups_of(search: LogSearch, *, cap: int, earlier: Sequence[Window] = ()) -> tuple[LineGroup, ...]:
    """Count the matching lines by the words, in the window and in the earlier ones; a group needs one in the window.

    One call for up to 2,000 groups. Raises SourceError when there are more than `cap` groups, since the rest
    would be missing.
    """
    fields, by, windows = search.fields, search.by, (search.window, *earlier)
    query = in_all([search.match, in_any([in_window(fields, window) for window in windows])])
    windowed: Json = {"windows": per_window(fields, windows)} if len(windows) > 1 else {}
    if not by:
        whole = await _ungrouped(search.client, query, windowed, len(windows))
        return (whole,) if whole.count else ()
    names = list(dict.fromkeys(name for word in by for name in fields.grouping(word)))
    found: dict[Labels, LineGroup] = {}
    after: Json | None = None
    seen = 0
    while True:
        page: Json = {**composite(names, size=min(_PAGE, cap), after=after)}
        if windowed:
            page["aggs"] = windowed
        body: Json = {"size": 0, "track_total_hits": False, "query": query, "aggs": {"groups": page}}
        kept = [f"aggregations.groups.buckets.{path}" for path in _COUNTS] + ["aggregations.groups.after_key"]
        answer = (await search.client.search(body, keep=kept)).get("aggregations", {}).get("groups", {})
        buckets = answer.get("buckets", [])
        seen += len(buckets)
        for bucket in buckets:
            _add(found, bucket, names, fields, by, len(windows))
        after = answer.get("after_key")
        if after is None or len(buckets) < min(_PAGE, cap):
            return tuple(group for group in found.values() if group.count)
        if seen >= cap:
            raise SourceError(
                f"more than {cap} groups by {', '.join(by)}: narrow `match` or group by fewer words",
                temporary=False,
            )


def usual_of(group: LineGroup, totals: Sequence[int]) -> float:
    """The median of a group's counts in the earlier windows; windows from which no log at all is left don't count.

    `totals`: how many lines of any kind each window holds, the first being the present.
    """
    known = [count for count, total in zip(group.counts[1:], totals[1:], strict=True) if total]
    return float(median(known)) if known else 0.0


async def _ungrouped(client: ElasticsearchClient, query: Json, windowed: Json, windows: int) -> LineGroup:
    body: Json = {"size": 0, "track_total_hits": True, "query": query}
    if windowed:
        body["aggs"] = windowed
    answer = await client.search(body, keep=("hits.total.value", "aggregations.windows.buckets.*.doc_count"))
    bucket = {"doc_count": answer["hits"]["total"]["value"], **answer.get("aggregations", {})}
    return LineGroup(labels=Labels(), counts=_counts(bucket, windows))


async def totals_of(search: LogSearch, earlier: Sequence[Window]) -> tuple[int, ...]:
    """How many lines of any kind the window and the earlier ones hold."""
    fields, windows = search.fields, (search.window, *earlier)
    query = in_any([in_window(fields, window) for window in windows])
    windowed: Json = {"windows": per_window(fields, windows)}
    return (await _ungrouped(search.client, query, windowed, len(windows))).counts


def _add(
    found: dict[Labels, LineGroup],
    bucket: Json,
    names: Sequence[str],
    fields: FieldMap,
    by: Sequence[str],
    windows: int,
) -> None:
    combination = tuple((name, bucket["key"].get(str(number))) for number, name in enumerate(names))
    labels = labels_of(dict(combination), fields, by)
    counts = _counts(bucket, windows)
    combinations: tuple[Combination, ...] = (combination,)
    if before := found.get(labels):
        counts = tuple(one + other for one, other in zip(before.counts, counts, strict=True))
        combinations = (*before.combinations, combination)
    found[labels] = LineGroup(labels=labels, counts=counts, combinations=combinations)


def _counts(bucket: Json, windows: int) -> tuple[int, ...]:
    if windows == 1:
        return (int(bucket["doc_count"]),)
    held = bucket["windows"]["buckets"]
    return tuple(int(held[str(number)]["doc_count"]) for number in range(windows))
