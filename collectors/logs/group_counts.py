"""Counts of lines by their labels: of a window, of earlier ones to compare with, of different values."""

from collections.abc import Sequence
from dataclasses import replace
from statistics import median

from collectors.facts.labels import Labels
from collectors.facts.queries import LogQuery, TimesUsual
from collectors.logs.log_store import LineGroup, LineSearch, LogStore, Window

_SEASONS = 7
_VALUES_WITH_TEXTS = 20  # of a group whose different values are counted


async def counted_groups(
    store: LogStore, search: LineSearch, query: LogQuery, *, cap: int
) -> list[LineGroup]:
    """Return the groups whose counts are above what the query says, and above the usual if it asks for that."""
    usual = query.times_usual
    windows = (search.window, *_earlier(search.window, usual))
    found = await groups_of(store, search, windows, cap=cap)
    if query.distinct:
        found = count_different(found, query.distinct)
    groups = [group for group in found if group.count > query.above]
    if usual is not None and groups:
        totals = await store.totals(windows)
        groups = [replace(group, usual=usual_of(group, totals)) for group in groups]
        groups = [group for group in groups if group.count > usual.factor * (group.usual or 0)]
    return sorted(groups, key=lambda group: tuple(group.labels.items()))


async def groups_of(
    store: LogStore, search: LineSearch, windows: Sequence[Window], *, cap: int
) -> tuple[LineGroup, ...]:
    """Return the groups of the lines that count. A group needs a line in the first window."""
    found: dict[Labels, LineGroup] = {}
    for part in await store.count(search, windows, cap=cap):
        labels = search.counted(part.labels)
        if labels is None:
            continue
        group = replace(part, labels=labels)
        before = found.get(labels)
        found[labels] = before.and_also(group) if before else group
    return tuple(group for group in found.values() if group.count)


def _earlier(window: Window, usual: TimesUsual | None) -> list[Window]:
    return [window.before(usual.season * back) for back in range(1, _SEASONS + 1)] if usual else []


def usual_of(group: LineGroup, totals: Sequence[int]) -> float:
    """Return the median of a group's counts in the earlier windows, without windows that no longer hold any line.

    `totals`: the number of all lines in each window, the current window first.
    """
    known = [count for count, total in zip(group.counts[1:], totals[1:], strict=True) if total]
    return float(median(known)) if known else 0.0


def count_different(groups: Sequence[LineGroup], field: str) -> tuple[LineGroup, ...]:
    """Return the groups without this label, and as their count how many values of it each has.

    Only some of the values are named by a group's keys: they are for texts.
    """
    found: dict[Labels, LineGroup] = {}
    for group in groups:
        if not group.labels.get(field):
            continue
        labels = group.labels.without(field)
        known = found.get(labels, LineGroup(labels=labels, counts=(0,)))
        shown = group.keys if known.count < _VALUES_WITH_TEXTS else ()
        found[labels] = known.and_also(LineGroup(labels=labels, counts=(1,), keys=shown))
    return tuple(found.values())
