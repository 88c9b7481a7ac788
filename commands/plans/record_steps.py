"""This file puts the rows that a Record step speaks of: what may be recorded, and as which type."""

from collections.abc import Iterable
from typing import Any

import msgspec

from commands.models import CordonLease, DueCommand, Launch, ReclaimRequest
from commands.plans.steps import Record, Step
from commands.store import Unit

_TYPES: dict[str, type[Any]] = {
    "leases": CordonLease,
    "reclaim_requests": ReclaimRequest,
    "launches": Launch,
    "agenda": DueCommand,
}


def record(table: str, row: Any, *, says: str, before: Any = None) -> Record:
    """A step that puts `row` into `table`; its inverse puts `before` back, or takes the row away."""
    return Record(
        table=table,
        id=row.id,
        description=says,
        row=msgspec.to_builtins(row),
        inverse=None if before is None else msgspec.to_builtins(before),
    )


def forget(table: str, row: Any, *, says: str, has_inverse: bool = True) -> Record:
    """A step that deletes a row; its inverse puts it back."""
    return Record(
        table=table,
        id=row.id,
        description=says,
        row=None,
        inverse=msgspec.to_builtins(row),
        has_inverse=has_inverse,
    )


async def answered_meanwhile(unit: Unit, steps: Iterable[Step]) -> str:
    """Why these steps may not begin: a claim is not as it was when they were planned. Empty: they may."""
    for step in steps:
        if isinstance(step, Record) and step.table == "reclaim_requests" and step.inverse is not None:
            reclaim = await unit.reclaim_requests.get(step.id)
            if reclaim is not None and msgspec.to_builtins(reclaim) != step.inverse:
                return f"Claim `{reclaim.id}` on {reclaim.training} is {reclaim.state.value} by now: nothing was done."
    return ""


async def put_record(unit: Unit, step: Record) -> None:
    """Do a Record step."""
    rows = getattr(unit, step.table)
    if step.row is None:
        await rows.delete(step.id)
    else:
        await rows.put(msgspec.convert(step.row, _TYPES[step.table]))
