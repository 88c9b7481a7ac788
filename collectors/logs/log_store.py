"""The port of log stores: what a server must answer about its lines, so that rules can search them.

A source of `LogQuery` gives an `open_store` to `collectors/logs/answering.py`, which judges what the store finds.
"""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Protocol

from collectors.facts.labels import Labels
from collectors.facts.log_match import EVERY_LINE, LogMatch
from collectors.facts.queries import LogLevel
from collectors.logs.line_patterns import LinePattern
from collectors.logs.stored_lines import StoredLine


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """A time range: `since` is inclusive, `until` exclusive."""

    since: datetime
    until: datetime

    def before(self, span: timedelta) -> "Window":
        return Window(since=self.since - span, until=self.until - span)


@dataclass(frozen=True, slots=True, kw_only=True)
class LineSearch:
    """The lines of a window that a rule asks for.

    `match` says which lines, and `own_match` also, in the store's own syntax; `level` is their lowest level, if any;
    `by` are their labels; `counted_as` says of the labels of a line under which labels it counts: None if it does not.
    """

    window: Window
    match: LogMatch = EVERY_LINE
    own_match: str = ""
    level: LogLevel | None = None
    by: tuple[str, ...] = ()
    counted_as: Callable[[Labels], Labels | None] | None = None

    def counted(self, labels: Labels) -> Labels | None:
        """Return the labels under which a line with these counts; None if it does not."""
        return labels if self.counted_as is None else self.counted_as(labels)


@dataclass(frozen=True, slots=True, kw_only=True)
class LineGroup:
    """The lines with the same labels.

    `counts`: how many fell into each window. `keys`: what the store finds these lines by; only the store reads them.
    `usual`: what the group's count usually is, if that was asked for.
    """

    labels: Labels
    counts: tuple[int, ...]
    keys: tuple[Any, ...] = ()
    usual: float | None = None

    @property
    def count(self) -> int:
        """The count in the first window."""
        return self.counts[0]

    def and_also(self, other: "LineGroup") -> "LineGroup":
        """Return the group with the lines of another that has the same labels."""
        return LineGroup(
            labels=self.labels,
            counts=tuple(one + more for one, more in zip(self.counts, other.counts, strict=True)),
            keys=(*self.keys, *other.keys),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class LogPage:
    """The lines of one page, in its order. `hits` also counts those that cannot be read."""

    lines: tuple[StoredLine, ...]
    hits: int


class LogStore(Protocol):
    """The lines of one server as of a moment. Every method answers completely or raises SourceError."""

    @property
    def name(self) -> str:
        """The field of the cluster's settings that configures the source."""
        ...

    @property
    def skipped(self) -> Sequence[str]:
        """The reasons why lines could not be read, so far."""
        ...

    def has(self, label: str) -> bool:
        """Whether lines can be grouped by this label."""
        ...

    def check_phrases(self, by: Sequence[str]) -> None:
        """Raise SourceError if lines cannot be found by their phrases, or not be grouped by these labels."""
        ...

    async def count(self, search: LineSearch, windows: Sequence[Window], *, cap: int) -> Sequence[LineGroup]:
        """Count the matching lines of each window by their labels; groups may come in parts.

        Raises SourceError when there are more than `cap` groups, since the others would be missing.
        """
        ...

    async def totals(self, windows: Sequence[Window]) -> tuple[int, ...]:
        """Return the number of all lines in each window."""
        ...

    async def newest(
        self, search: LineSearch, groups: Sequence[LineGroup], *, size: int, by: Sequence[str] = ()
    ) -> Sequence[tuple[StoredLine, ...]]:
        """Return the newest `size` matching lines (at most 100) of each group, with the labels `by`.

        Raises TooLargeError when fewer groups or lines may be answered.
        """
        ...

    def pages(
        self, search: LineSearch, *, cap: int, but_not: Sequence[LinePattern] = ()
    ) -> AsyncIterator[LogPage]:
        """Yield the matching lines without these patterns, the newest first, up to `cap`; labels are `search.by`."""
        ...

    async def read(
        self,
        search: LineSearch,
        where: Mapping[str, Sequence[str]],
        *,
        size: int,
        skip: int = 0,
        oldest: bool = False,
    ) -> LogPage:
        """Return the newest (or the oldest) matching lines with these label values, without the first `skip`.

        They have all labels that the store knows, for people.
        Lines of the same time keep their order from one call to the next.
        """
        ...

    async def seen(self, patterns: Sequence[LinePattern], window: Window) -> Sequence[bool]:
        """Return of each pattern whether any line of the window has its phrases."""
        ...
