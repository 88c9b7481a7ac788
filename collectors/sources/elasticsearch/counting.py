"""Counts of log lines by group. The server counts; only the texts of the largest groups are fetched."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from collectors.facts.labels import Labels
from collectors.facts.results import SourceError
from collectors.sources.elasticsearch.aggregations import CombinationBucket, Combinations, Windows
from collectors.sources.elasticsearch.bodies import (
    Combination,
    Window,
    composite,
    in_any,
    in_window,
    of_combination,
    per_window,
)
from collectors.sources.elasticsearch.log_lines import labels_of
from collectors.sources.elasticsearch.log_search import LogSearch
from collectors.sources.elasticsearch.wire import Json

_PAGE = 2_000  # buckets of one request
_COUNTS = ("key", "doc_count", "windows.buckets.*.doc_count")
_VALUES_WITH_TEXTS = 20  # of a group whose different values are counted


@dataclass(frozen=True, slots=True, kw_only=True)
class LineGroup:
    """The lines with the same labels.

    `counts`: how many fell into each window. `combinations`: the fields' values that make up the group; more than
    one when log shippers put the same label into different fields. `usual`: what its count usually is, if that was
    asked for.
    """

    labels: Labels
    counts: tuple[int, ...]
    combinations: tuple[Combination, ...] = ()
    usual: float | None = None

    @property
    def count(self) -> int:
        """The count in the first window."""
        return self.counts[0]

    def filter(self) -> Json:
        """Return the filter of this group's lines."""
        if not self.combinations:
            return {"match_all": {}}
        return in_any([of_combination(combination) for combination in self.combinations])

    def and_also(self, other: "LineGroup") -> "LineGroup":
        """Return the group with the lines of another that has the same labels."""
        return LineGroup(
            labels=self.labels,
            counts=tuple(one + more for one, more in zip(self.counts, other.counts, strict=True)),
            combinations=(*self.combinations, *other.combinations),
        )


class Counting:
    """The counts of a search: of its window, and of earlier windows to compare with."""

    def __init__(self, search: LogSearch, *, earlier: Sequence[Window] = ()) -> None:
        self._search = search
        self._windows = (search.window, *earlier)

    async def groups(self, *, cap: int) -> tuple[LineGroup, ...]:
        """Count the matching lines by label. A group needs a line in the search's own window.

        One request per 2,000 groups. Raises SourceError when there are more than `cap` groups, since the others
        would be missing.
        """
        search, by = self._search, self._search.by
        query = search.within(self._windows)
        if not by:
            total = LineGroup(labels=Labels(), counts=await self._ungrouped(query))
            return (total,) if total.count else ()
        names = list(dict.fromkeys(name for label in by for name in search.fields.grouping(label)))
        found: dict[Labels, LineGroup] = {}
        after: Json | None = None
        seen = 0
        while True:
            page: Json = {**composite(names, size=min(_PAGE, cap), after=after), **self._per_window}
            body: Json = {"size": 0, "track_total_hits": False, "query": query, "aggs": {"groups": page}}
            keep = [f"aggregations.groups.buckets.{path}" for path in _COUNTS]
            answer = await search.client.search(body, keep=[*keep, "aggregations.groups.after_key"])
            response = answer.aggregation("groups", Combinations)
            seen += len(response.buckets)
            for bucket in response.buckets:
                if (group := self._group(bucket, names)) is None:
                    continue
                before = found.get(group.labels)
                found[group.labels] = before.and_also(group) if before else group
            after = response.after_key
            if after is None or len(response.buckets) < min(_PAGE, cap):
                return tuple(group for group in found.values() if group.count)
            if seen >= cap:
                raise SourceError(
                    f"more than {cap} groups by {', '.join(by)}: narrow `match` or group by fewer labels",
                    temporary=False,
                )

    async def totals(self) -> tuple[int, ...]:
        """Return the number of all lines in each window, whether or not they match."""
        return await self._ungrouped(self._in_any_window())

    async def _ungrouped(self, query: Json) -> tuple[int, ...]:
        body: Json = {"size": 0, "track_total_hits": True, "query": query, **self._per_window}
        keep = ("hits.total.value", "aggregations.windows.buckets.*.doc_count")
        answer = await self._search.client.search(body, keep=keep)
        if len(self._windows) == 1:
            return (answer.total,)
        return answer.aggregation("windows", Windows).counts(len(self._windows))

    def _in_any_window(self) -> Json:
        return in_any([in_window(self._search.fields, window) for window in self._windows])

    @property
    def _per_window(self) -> Json:
        """What counts by window; nothing for a single one."""
        if len(self._windows) == 1:
            return {}
        return {"aggs": {"windows": per_window(self._search.fields, self._windows)}}

    def _group(self, bucket: CombinationBucket, names: Sequence[str]) -> LineGroup | None:
        values = {name: bucket.key.get(str(number)) for number, name in enumerate(names)}
        # Elasticsearch says of an object that it exists if any field of it does: `host` of another shipper, a name.
        parents = self._search.fields.parents
        combination = tuple(
            (name, value) for name, value in values.items() if value is not None or name not in parents
        )
        windows = len(self._windows)
        labels = self._search.counted(labels_of(values, self._search.fields, self._search.by))
        if labels is None:
            return None
        return LineGroup(
            labels=labels,
            counts=(bucket.doc_count,) if windows == 1 else (bucket.windows or Windows()).counts(windows),
            combinations=(combination,),
        )


def usual_of(group: LineGroup, totals: Sequence[int]) -> float:
    """Return the median of a group's counts in the earlier windows, without windows that no longer hold any line.

    `totals`: the number of all lines in each window, the current window first.
    """
    known = [count for count, total in zip(group.counts[1:], totals[1:], strict=True) if total]
    return float(median(known)) if known else 0.0


def count_different(groups: Sequence[LineGroup], field: str) -> tuple[LineGroup, ...]:
    """Return the groups without this label, and as their count how many values of it each has.

    Only some of the values are named in a group's filter: it is for texts.
    """
    found: dict[Labels, LineGroup] = {}
    for group in groups:
        if not group.labels.get(field):
            continue
        labels = group.labels.without(field)
        known = found.get(labels, LineGroup(labels=labels, counts=(0,)))
        shown = group.combinations if known.count < _VALUES_WITH_TEXTS else ()
        found[labels] = known.and_also(LineGroup(labels=labels, counts=(1,), combinations=shown))
    return tuple(found.values())
