"""Samples of counted groups: with lines for people, without those that were delivered twice or sent again."""

from collections.abc import Sequence
from dataclasses import replace

from collectors.facts.labels import Labels
from collectors.facts.results import Sample, TooLargeError
from collectors.facts.sentences import sentence
from collectors.logs.log_store import LineGroup, LineSearch, LogStore
from collectors.logs.stored_lines import LineTally, StoredLine

_READ = 10  # lines of a group
_AT_ONCE = 50  # groups of one request for texts
_WITH_TEXTS = 200  # groups with texts, the largest first; the others are only counted


async def samples_of(
    store: LogStore,
    search: LineSearch,
    groups: Sequence[LineGroup],
    *,
    above: float,
    are_lines: bool = True,
) -> tuple[Sample, ...]:
    """Return the groups as samples, with up to three of the newest lines of each of the largest, for people.

    Of a small group each line is read: what was delivered twice counts once, and what was replayed not at all. Lines
    that are too large to fetch are replaced by a note; the group's count is still valid. `are_lines`: the counts are
    of lines.
    """
    found: dict[Labels, Sample] = {
        group.labels: Sample(labels=group.labels, value=float(group.count)) for group in groups
    }
    largest = sorted(groups, key=lambda group: -group.count)[:_WITH_TEXTS]
    for start in range(0, len(largest), _AT_ONCE):
        batch = largest[start : start + _AT_ONCE]
        try:
            lines = await store.newest(search, batch, size=_READ)
        except TooLargeError:
            note = (sentence("(these lines are too large to show)"),)
            found |= {group.labels: replace(found[group.labels], texts=note) for group in batch}
            continue
        for group, own in zip(batch, lines, strict=True):
            found[group.labels] = _with_lines(group, own, are_lines=are_lines)
    usual = {group.labels: group.usual for group in groups if group.usual is not None}
    return tuple(
        replace(sample, texts=(*_usually(usual.get(sample.labels)), *sample.texts))
        for sample in found.values()
        if sample.value > above
    )


def _usually(count: float | None) -> tuple[str, ...]:
    """Return what the count usually is, for people; nothing if it was not compared."""
    return () if count is None else (sentence("usually {number:g} in the same time", number=count),)


def _with_lines(group: LineGroup, lines: Sequence[StoredLine], *, are_lines: bool) -> Sample:
    tally = LineTally()
    for line in lines:
        tally.add(group.labels, line)
    (read,) = tally.samples(above=0) or (Sample(labels=group.labels, value=0),)
    is_exact = (are_lines and len(lines) >= group.count) or (lines and not read.value)
    return read if is_exact else replace(read, value=float(group.count))
