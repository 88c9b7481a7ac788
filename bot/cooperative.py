"""Running of stepwise work: between its steps, others may run."""

import asyncio
from collections.abc import AsyncIterator, Iterable
from typing import TypeVar

from collectors.facts.stepwise import Result, Stepwise

Item = TypeVar("Item")


AT_ONCE = 250  # items of little work, a few milliseconds


async def in_pieces(items: Iterable[Item], at_once: int = AT_ONCE) -> AsyncIterator[Item]:
    """Yield the items, and give the event loop back every so many."""
    for number, item in enumerate(items, 1):
        yield item
        if number % at_once == 0:
            await asyncio.sleep(0)


async def run_steps(steps: Stepwise[Result]) -> Result:
    """Run the computation to its end, and give the event loop back after each step."""
    while True:
        try:
            next(steps)
        except StopIteration as done:
            found: Result = done.value
            return found
        await asyncio.sleep(0)
