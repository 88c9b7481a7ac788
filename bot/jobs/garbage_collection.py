"""Python's garbage collection: in small parts, and in full only now and then.

A full collection visits every object and stops everything meanwhile. By itself it runs whenever many objects were made,
which is in the middle of a cycle with the answers about a large cluster: 0.2 s. Few objects are in cycles; the others
are freed without it.
"""

import asyncio
import ctypes
import gc
from collections.abc import Callable

EVERY = 600.0  # seconds


def collect_in_small_parts() -> None:
    """Leave out what exists now, and let only young objects be collected by themselves. Call it once, at the start."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(2_000, 10, 1_000_000)


async def collect_periodically() -> None:
    """Run until cancelled: collect in full now and then, and give freed memory back."""
    while True:
        await asyncio.sleep(EVERY)
        gc.collect()
        await asyncio.to_thread(trim_memory)


def trim_memory() -> None:
    """Give the system the memory that is freed. The C library keeps the holes that large answers leave: 40 MB."""
    if _trim is not None:
        _trim(0)


# Of glibc; other C libraries have no such call.
_trim: Callable[[int], int] | None = getattr(ctypes.CDLL(None), "malloc_trim", None)
