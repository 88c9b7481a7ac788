"""Record steps: which tables they may write, and with which row types."""

from collections.abc import Iterable
from typing import Any

import msgspec

from alerts.store import TABLES, Unit
from commands.models import ReclaimRequest
from commands.plans.steps import Record, Step


def record(
    table: str, row: Any, *, text: str, before: Any = None, has_inverse: bool = True, undo_text: str = ""
) -> Record:
    """Return a step that puts `row` into `table`; its inverse restores `before` or deletes the row."""
    return Record(
        table=table,
        id=row.id,
        description=text,
        row=msgspec.to_builtins(row),
        before=None if before is None else msgspec.to_builtins(before),
        has_inverse=has_inverse,
        undo_text=undo_text,
    )


def forget(table: str, row: Any, *, text: str, has_inverse: bool = True, undo_text: str = "") -> Record:
    """Return a step that deletes a row; its inverse restores it."""
    return Record(
        table=table,
        id=row.id,
        description=text,
        row=None,
        before=msgspec.to_builtins(row),
        has_inverse=has_inverse,
        undo_text=undo_text,
    )


async def answered_meanwhile(unit: Unit, steps: Iterable[Step]) -> str:
    """Return why these steps may not start: a reclaim request changed since they were planned. Empty: they may."""
    for step in steps:
        if isinstance(step, Record) and step.table == "reclaim_requests" and step.before is not None:
            reclaim = await unit.rows(ReclaimRequest).get(step.id)
            if reclaim is not None and msgspec.to_builtins(reclaim) != step.before:
                return f"Request `{reclaim.id}` for {reclaim.shown} is now {reclaim.state.value}: nothing was done."
    return ""


async def put_record(unit: Unit, step: Record) -> None:
    """Run a Record step. Raises ValueError for a table that plans may not write."""
    table = TABLES[step.table]
    if not table.in_plans:
        raise ValueError(f"a plan may not write the table {table.name}")
    rows = unit.rows(table.row)
    if step.row is None:
        await rows.delete(step.id)
    else:
        await rows.put(msgspec.convert(step.row, table.row))
