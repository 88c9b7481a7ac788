"""Stepwise work: a pure computation that yields between its steps, so that whoever runs it may do something else."""

from collections.abc import Generator
from typing import TypeVar

Result = TypeVar("Result")

Stepwise = Generator[None, None, Result]  # yields between steps, and returns the result

STEP = 20  # alerts: a few milliseconds of work


def result_of(steps: Stepwise[Result]) -> Result:
    """Run the computation to its end, without a pause."""
    while True:
        try:
            next(steps)
        except StopIteration as done:
            found: Result = done.value
            return found
