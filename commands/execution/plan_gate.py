"""The gate before a plan's first step: the port of what may hold a confirmed plan back."""

from datetime import timedelta
from typing import Protocol

from alerts.store import StoreSnapshot
from commands.execution.plan import Plan

HELD_AT_MOST = timedelta(hours=4)  # then a plan that is held back is cancelled


class Gate(Protocol):
    async def __call__(self, plan: Plan, rows: StoreSnapshot, /) -> str:
        """Return why the plan is held back now; empty lets it begin, in the transaction of `rows`."""
        ...


async def open_gate(_plan: Plan, _rows: StoreSnapshot) -> str:
    """Hold nothing back."""
    return ""
