"""Timing of runs that alternate, so that a busy machine slows each of them equally."""

import gc
import statistics
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta

Run = Callable[[], Awaitable[float]]  # one run; it returns the seconds that count


@dataclass(frozen=True, slots=True)
class Timing:
    """The seconds of each repetition, in the order of the runs."""

    seconds: tuple[float, ...]

    @property
    def median(self) -> float:
        return statistics.median(self.seconds)

    @property
    def milliseconds(self) -> float:
        """The median, in milliseconds."""
        return self.median * 1e3


async def take_turns(
    runs: Mapping[str, Run], *, rounds: int, warm_ups: int = 1, within: timedelta = timedelta(seconds=60)
) -> dict[str, Timing]:
    """Run each once per round, every second round in reverse order; the warm-ups are not counted.

    No round starts after `within`, but one round always runs.
    """
    found: dict[str, list[float]] = {name: [] for name in runs}
    end = time.perf_counter() + within.total_seconds()
    for turn in range(-warm_ups, rounds):
        if turn > 0 and time.perf_counter() > end:
            break
        for name in reversed(tuple(runs)) if turn % 2 else runs:
            gc.collect()  # so that no run pays for the garbage of the one before
            seconds = await runs[name]()
            if turn >= 0:
                found[name].append(seconds)
    return {name: Timing(tuple(seconds)) for name, seconds in found.items()}


@dataclass(slots=True)
class Watch:
    """A stop-watch for a `with` block: wall seconds, and this process's CPU seconds in all its threads."""

    wall: float = 0.0
    cpu: float = 0.0
    _started: tuple[float, float] = field(default=(0.0, 0.0), repr=False)

    def __enter__(self) -> "Watch":
        self._started = time.perf_counter(), time.process_time()
        return self

    def __exit__(self, *_: object) -> None:
        wall, cpu = self._started
        self.wall, self.cpu = time.perf_counter() - wall, time.process_time() - cpu
