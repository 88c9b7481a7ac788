"""Counts of log lines by group. The server counts; only the texts of the largest groups are fetched."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import median

from collectors.facts.labels import Labels
from collectors.facts.results import Sample, SourceError, TooLargeError
from collectors.sources.elasticsearch.bodies import (
    Combination,
    Window,
    composite,
    in_any,
    in_window,
    of_combination,
    per_window,
)
from collectors.sources.elasticsearch.log_lines import LineTally, StoredLine, labels_of
from collectors.sources.elasticsearch.log_search import LogSearch
from collectors.sources.elasticsearch.wire import CombinationBucket, Combinations, Json, Windows

_PAGE = 2_000  # buckets of one request
_COUNTS = ("key", "doc_count", "windows.buckets.*.doc_count")
_READ = 10  # lines of a group
_AT_ONCE = 50  # groups of one request for texts
_WITH_TEXTS = 200  # groups with texts, the largest first; the others are only counted


@dataclass(frozen=True, slots=True, kw_only=True)
class LineGroup:
    """The lines with the same labels.

    `counts`: how many fell into each window. `combinations`: the fields' values that make up the group; more than
    one when log shippers put the same label into different fields.
    """

    labels: Labels
    counts: tuple[int, ...]
    combinations: tuple[Combination, ...] = ()

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
                group = self._group(bucket, names)
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

    def _group(self, bucket: CombinationBucket, names: Sequence[str]) -> LineGroup:
        values = {name: bucket.key.get(str(number)) for number, name in enumerate(names)}
        # Elasticsearch says of an object that it exists if any field of it does: `host` of another shipper, a name.
        parents = self._search.fields.parents
        combination = tuple(
            (name, value) for name, value in values.items() if value is not None or name not in parents
        )
        windows = len(self._windows)
        return LineGroup(
            labels=labels_of(values, self._search.fields, self._search.by),
            counts=(bucket.doc_count,) if windows == 1 else (bucket.windows or Windows()).counts(windows),
            combinations=(combination,),
        )


def usual_of(group: LineGroup, totals: Sequence[int]) -> float:
    """Return the median of a group's counts in the earlier windows, without windows that no longer hold any line.

    `totals`: the number of all lines in each window, the current window first.
    """
    known = [count for count, total in zip(group.counts[1:], totals[1:], strict=True) if total]
    return float(median(known)) if known else 0.0


async def samples_of(search: LogSearch, groups: Sequence[LineGroup], *, above: float) -> tuple[Sample, ...]:
    """Return the groups as samples, with up to three of the newest lines of each of the largest, for people.

    Of a small group each line is read: what was delivered twice counts once, and what was replayed not at all. Lines
    that are too large to fetch are replaced by a note; the group's count is still valid.
    """
    found: dict[Labels, Sample] = {
        group.labels: Sample(labels=group.labels, value=float(group.count)) for group in groups
    }
    largest = sorted(groups, key=lambda group: -group.count)[:_WITH_TEXTS]
    for start in range(0, len(largest), _AT_ONCE):
        batch = largest[start : start + _AT_ONCE]
        try:
            lines = await search.newest([group.filter() for group in batch], size=_READ)
        except TooLargeError:
            note = ("(these lines are too large to show)",)
            found |= {group.labels: replace(found[group.labels], texts=note) for group in batch}
            continue
        for group, own in zip(batch, lines, strict=True):
            found[group.labels] = _with_lines(group, own)
    return tuple(sample for sample in found.values() if sample.value > above)


def _with_lines(group: LineGroup, lines: Sequence[StoredLine]) -> Sample:
    tally = LineTally()
    for line in lines:
        tally.add(group.labels, line)
    (read,) = tally.samples(above=0) or (Sample(labels=group.labels, value=0),)
    is_exact = len(lines) >= group.count or (lines and not read.value)
    return read if is_exact else replace(read, value=float(group.count))
