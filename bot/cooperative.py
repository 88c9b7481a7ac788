"""Running of stepwise work: between its steps, others may run."""

import asyncio

from collectors.facts.stepwise import Result, Stepwise


async def run_steps(steps: Stepwise[Result]) -> Result:
    """Run the computation to its end, and give the event loop back after each step."""
    while True:
        try:
            next(steps)
        except StopIteration as done:
            found: Result = done.value
            return found
        await asyncio.sleep(0)
