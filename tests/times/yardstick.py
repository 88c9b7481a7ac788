"""The speed of the machine: what a fixed piece of work takes when every core does it at once.

The minutes of two runs can be compared by it: virtual cores differ from day to day by a factor of two.
"""

import os
import time
from multiprocessing import get_context

ADDITIONS = 3_000_000
TRIES = 3


def seconds_of_work() -> float:
    """Return the seconds of the fastest of a few tries, the mean of all cores."""
    cores = os.cpu_count() or 1
    with get_context("spawn").Pool(cores) as pool:
        return min(sum(pool.map(_add, range(cores), chunksize=1)) / cores for _ in range(TRIES))


def _add(_core: int) -> float:
    began = time.perf_counter()
    total = 0
    for number in range(ADDITIONS):
        total += number
    return time.perf_counter() - began
