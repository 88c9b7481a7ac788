"""Rows, the results of benchmarks: a figure with its peer and its goal. Pure."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta


@dataclass(frozen=True, slots=True, kw_only=True)
class Peer:
    """What a row is compared with. The name says what it is and, if it was not run here, where it comes from."""

    name: str
    value: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Goal:
    """A limit for the ratio to the peer, or with `of_value` for the value itself."""

    limit: float
    of_value: bool = False
    at_least: bool = False  # otherwise at most

    def is_met(self, figure: float) -> bool:
        return figure >= self.limit if self.at_least else figure <= self.limit


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One line of the table. `missing` says why there is no value; a row without a goal is informational."""

    id: str
    measure: str
    unit: str = ""
    value: float | None = None
    peer: Peer | None = None
    goal: Goal | None = None
    missing: str = ""

    @property
    def ratio(self) -> float | None:
        """Our value over the peer's."""
        if self.value is None or self.peer is None or self.peer.value == 0:
            return None
        return self.value / self.peer.value

    @property
    def met(self) -> bool | None:
        """Whether the goal is met; not met if it could not be measured. None without a goal."""
        if self.missing:
            return False
        if self.goal is None:
            return None
        figure = self.value if self.goal.of_value else self.ratio
        return figure is not None and self.goal.is_met(figure)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stall:
    """The longest time that the event loop was blocked during a measurement, and the longest decode in it."""

    during: str
    longest: timedelta
    longest_decode: timedelta


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The results of one benchmark."""

    rows: tuple[Row, ...] = ()
    stalls: tuple[Stall, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Benchmark:
    """One benchmark. `run` receives the outcomes of the benchmarks in `needs`, which run before it."""

    id: str
    title: str
    run: Callable[[Mapping[str, Outcome]], Awaitable[Outcome]]
    needs: tuple[str, ...] = ()
    limit: timedelta = timedelta(seconds=90)


class CannotRunError(Exception):
    """A benchmark cannot be run here. The text says what is missing and how to get it."""
