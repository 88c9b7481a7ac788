"""This file has what a benchmark gives: rows of figures, each beside its peer and its goal. Pure."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta


@dataclass(frozen=True, slots=True, kw_only=True)
class Peer:
    """What a row is held against: the name says what it is and, when it was not run here, from where it is."""

    name: str
    value: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Goal:
    """The limit to keep: of the ratio to the peer when there is one, unless `of_value`."""

    limit: float
    of_value: bool = False
    at_least: bool = False  # else: at most

    def is_met(self, figure: float) -> bool:
        return figure >= self.limit if self.at_least else figure <= self.limit


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One line of the table. `missing` says why there is no value; a row without a goal is for orientation."""

    id: str
    measure: str
    unit: str = ""
    value: float | None = None
    peer: Peer | None = None
    goal: Goal | None = None
    missing: str = ""

    @property
    def ratio(self) -> float | None:
        """Ours over the peer's."""
        if self.value is None or self.peer is None or self.peer.value == 0:
            return None
        return self.value / self.peer.value

    @property
    def met(self) -> bool | None:
        """Whether the goal is met; what could not be measured is not. None: there is no goal."""
        if self.missing:
            return False
        if self.goal is None:
            return None
        figure = self.value if self.goal.of_value else self.ratio
        return figure is not None and self.goal.is_met(figure)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stall:
    """How long the event loop stood still at most while something was measured, and the longest decode in it."""

    during: str
    longest: timedelta
    longest_decode: timedelta


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What one benchmark gives."""

    rows: tuple[Row, ...] = ()
    stalls: tuple[Stall, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Benchmark:
    """One benchmark. `run` is given the outcomes of the benchmarks named in `needs`, which are run before it."""

    id: str
    title: str
    run: Callable[[Mapping[str, Outcome]], Awaitable[Outcome]]
    needs: tuple[str, ...] = ()
    limit: timedelta = timedelta(seconds=90)


class CannotRunError(Exception):
    """A benchmark cannot be run here. The text says what is missing and how to get it."""
