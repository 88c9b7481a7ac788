"""This file times things that take turns, so that a busy machine is as unfair to the one as to the other."""

import gc
import statistics
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta

Run = Callable[[], Awaitable[float]]  # does it once, and gives the seconds that count


@dataclass(frozen=True, slots=True)
class Timing:
    """The seconds of each repetition, in the order in which they were run."""

    seconds: tuple[float, ...]

    @property
    def median(self) -> float:
        return statistics.median(self.seconds)

    @property
    def milliseconds(self) -> float:
        """The median."""
        return self.median * 1e3


async def take_turns(
    runs: Mapping[str, Run], *, rounds: int, warm_ups: int = 1, within: timedelta = timedelta(seconds=60)
) -> dict[str, Timing]:
    """Run each once per round, every second round in reverse; the warm-ups are not counted.

    After `within` no further round is begun, but one whole round is always run.
    """
    found: dict[str, list[float]] = {name: [] for name in runs}
    end = time.perf_counter() + within.total_seconds()
    for turn in range(-warm_ups, rounds):
        if turn > 0 and time.perf_counter() > end:
            break
        for name in reversed(tuple(runs)) if turn % 2 else runs:
            gc.collect()  # what the one before left is not paid for by this one
            seconds = await runs[name]()
            if turn >= 0:
                found[name].append(seconds)
    return {name: Timing(tuple(seconds)) for name, seconds in found.items()}


@dataclass(slots=True)
class Watch:
    """A stop-watch for a `with` block: wall seconds, and this process' own CPU seconds in all of its threads."""

    wall: float = 0.0
    cpu: float = 0.0
    _began: tuple[float, float] = field(default=(0.0, 0.0), repr=False)

    def __enter__(self) -> "Watch":
        self._began = time.perf_counter(), time.process_time()
        return self

    def __exit__(self, *_: object) -> None:
        wall, cpu = self._began
        self.wall, self.cpu = time.perf_counter() - wall, time.process_time() - cpu
