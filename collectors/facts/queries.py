"""This file has the questions that a rule may ask: PromQL, a log search, a cluster check."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta


@dataclass(frozen=True, slots=True, kw_only=True)
class PromQLQuery:
    """An instant query. `presence` is a presence query whose result names everything that is being watched."""

    expr: str
    presence: str | None = None

    def without_presence(self) -> "PromQLQuery":
        """The same for a rule that holds no alert: nobody's silence has to be told from blindness."""
        return self if self.presence is None else replace(self, presence=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class TimesUsual:
    """How far above the usual a count must be: `factor` times the median of the same window, 1 to 7 seasons ago."""

    factor: float
    season: timedelta = timedelta(days=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class LogQuery:
    """Counts log documents by our own words.

    `match` is an Elasticsearch query string. `by` are words of `alerts/rules.py`'s symbols (node, pod,
    namespace, container, component, level), which the source turns into fields. A group counts when more than
    `above` documents fell into the last `over`. `novel`: only message patterns never seen in that long
    before the window count. `times_usual`: the count must also exceed what is usual.
    `extract`: a regular expression with named groups, tried on the sampled lines; each named group becomes a
    label, so that one search gives one sample a GPU or an XID number.
    """

    match: str
    by: tuple[str, ...]
    over: timedelta
    above: float = 0
    novel: timedelta | None = None
    times_usual: TimesUsual | None = None
    extract: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckQuery:
    """A named cluster check and its parameters; see `collectors/checks`."""

    name: str
    parameters: Mapping[str, object] = field(default_factory=dict)


Query = PromQLQuery | LogQuery | CheckQuery
