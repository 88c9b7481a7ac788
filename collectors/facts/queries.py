"""The queries of rules: PromQL, a log search, a cluster check. `asks_for` is what a source of them has."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from enum import IntEnum
from typing import ClassVar

from collectors.facts.log_match import EVERY_LINE, LogMatch, StoreMatch
from collectors.facts.promql.selectors import look_back
from collectors.facts.sentences import sentence


@dataclass(frozen=True, slots=True, kw_only=True)
class PromQLQuery:
    """An instant query. `presence` is a query whose result names everything that is watched.

    `of_pack`: it is written for the labels of the packs; the source asks it in the dialect of what it has.
    """

    asks_for: ClassVar[str] = "metrics"

    expr: str
    presence: str | None = None
    of_pack: bool = False

    @property
    def window(self) -> timedelta:
        """How far its expression looks back; zero if it looks at no range."""
        return look_back(self.expr)

    def without_presence(self) -> "PromQLQuery":
        """Return the query for a rule without alerts: there is no alert whose subject could be missing."""
        return self if self.presence is None else replace(self, presence=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class TimesUsual:
    """How far above the usual a count must be: `factor` times the median of the same window, 1 to 7 seasons ago."""

    factor: float
    season: timedelta = timedelta(days=1)


class LogLevel(IntEnum):
    """How bad a log line is, as its header or its shipper says; debug and trace are INFO."""

    INFO = 0
    WARNING = 1
    ERROR = 2
    FATAL = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class LogQuery:
    """A count of log lines, grouped by labels.

    `match` says which lines; with `store_match`, the lines must also match in the own syntax of one store, and no
    other can answer; with `level`, only lines of it or a worse one match. `by` are fields of
    a subject, or `level`, which the source maps to document fields. A group counts when more than `above` lines fell
    into the last `over`. `novel`: only message patterns count that were not seen in this long before the window.
    `times_usual`: the count must also exceed the usual count. `extract`: a regular expression with named groups,
    applied to the lines read; each named group becomes a label, so that one search gives one sample per GPU or XID.
    `distinct`: a field of a subject; its different values in a group are counted, and not the lines. `of_host`: only
    lines of the host itself count, or of a DaemonSet's pod there: any other pod may quote what some kernel once wrote.
    """

    asks_for: ClassVar[str] = "logs"

    match: LogMatch = EVERY_LINE
    by: tuple[str, ...]
    over: timedelta
    store_match: StoreMatch | None = None
    level: LogLevel | None = None
    above: float = 0
    novel: timedelta | None = None
    times_usual: TimesUsual | None = None
    extract: str | None = None
    distinct: str = ""
    of_host: bool = False

    @property
    def labels(self) -> tuple[str, ...]:
        """The fields that its lines must have."""
        return (*self.by, self.distinct) if self.distinct else self.by


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckQuery:
    """A named cluster check and its parameters; see `collectors/checks`."""

    asks_for: ClassVar[str] = sentence("the cluster's state")

    name: str
    parameters: Mapping[str, object] = field(default_factory=dict)


Query = PromQLQuery | LogQuery | CheckQuery
