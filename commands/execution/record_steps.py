"""Record steps: which tables they may write, with which row types, and whether a row still is as they expect."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import msgspec

from alerts.store import TABLES, StoreSnapshot, Unit
from collectors.facts.sentences import Sentence, english, sentence, word
from collectors.facts.sentences_within import restored
from commands.execution.object_refs import JsonValue
from commands.execution.object_state import ObjectState
from commands.execution.steps import Record, Step


def record(
    table: str,
    row: Any,
    *,
    text: str,
    before: Any = None,
    has_inverse: bool = True,
    undo_text: str = "",
    expects: str = "",
    goes_with: str = "",
    scope: tuple[str, ...] = (),
    about: Iterable[ObjectState] = (),
    about_undone: Iterable[ObjectState] = (),
) -> Record:
    """Return a step that puts `row` into `table`; its inverse restores `before` or deletes the row.

    `about` is what the row says of the cluster, `about_undone` what its absence says.
    """
    return Record(
        table=table,
        id=row.id,
        description=text,
        row=_as_json(row),
        before=None if before is None else _as_json(before),
        has_inverse=has_inverse,
        undo_text=undo_text,
        expects=expects,
        goes_with=goes_with,
        scope=scope,
        about=tuple(about),
        about_undone=tuple(about_undone),
    )


def forget(
    table: str,
    row: Any,
    *,
    text: str,
    has_inverse: bool = True,
    undo_text: str = "",
    goes_with: str = "",
    about: Iterable[ObjectState] = (),
    about_undone: Iterable[ObjectState] = (),
) -> Record:
    """Return a step that deletes a row; its inverse restores it."""
    return Record(
        table=table,
        id=row.id,
        description=text,
        row=None,
        before=_as_json(row),
        has_inverse=has_inverse,
        undo_text=undo_text,
        goes_with=goes_with,
        about=tuple(about),
        about_undone=tuple(about_undone),
    )


def _as_json(row: Any) -> dict[str, JsonValue]:
    """Return the row as JSON, in which sentences keep what they are made of: the plan is shown in any language."""
    said: dict[str, Sentence] = {}

    def hook(value: object) -> str:
        plain = english(value)
        if isinstance(value, Sentence):
            said[plain] = value
        return plain

    # Through its bytes, so that it is the same before and after it was stored: `to_builtins` leaves tuples.
    plain_row = msgspec.json.decode(msgspec.json.encode(row, enc_hook=hook))
    document: dict[str, JsonValue] = restored(plain_row, said)
    return document


def left_by(steps: Iterable[Step]) -> tuple[ObjectState, ...]:
    """Return how the steps leave their objects, for a row that says that they were done."""
    return tuple(left for step in steps if (left := step.leaves()) is not None)


def left_undone(steps: Iterable[Step]) -> tuple[ObjectState, ...]:
    """Return how an undo of the steps leaves their objects."""
    return left_by(inverse for step in steps if (inverse := step.inverse("")) is not None)


async def changed_before(snapshot: StoreSnapshot, steps: Iterable[Step]) -> str:
    """Return why these steps may not start: a row is no longer what one of them expects. Empty: they may."""
    for step in steps:
        if not isinstance(step, Record) or step.before is None:
            continue
        if state := await _other_state(snapshot, step, step.before):
            return sentence("The {row} is {state} by now: nothing was done.", row=step.expects, state=state)
    return ""


async def changed_after(snapshot: StoreSnapshot, step: Record) -> str:
    """Return what has become of the row since this step put it: `kept`. Empty: it is as the step expects."""
    return await _other_state(snapshot, step, step.row) if step.row is not None else ""


async def settled_rows(snapshot: StoreSnapshot, plan: str, steps: Iterable[Step]) -> frozenset[str]:
    """Return the ids of rows that are no longer as the steps of this plan put them: changed, deleted, or another's."""
    found: set[str] = set()
    for step in steps:
        if not isinstance(step, Record) or step.row is None:
            continue
        table = TABLES[step.table]
        if table.names_last_plan:
            stored = await snapshot.rows(table.row).get(step.id)
            is_settled = stored is None or stored.plan != plan
        else:
            is_settled = bool(await changed_after(snapshot, step))
        if is_settled:
            found.add(step.id)
    return frozenset(found)


async def _other_state(snapshot: StoreSnapshot, step: Record, expected: dict[str, JsonValue]) -> str:
    """Return the state of the stored row, if the step expects another. A row that is gone is as good as expected."""
    if not step.expects:
        return ""
    table = TABLES[step.table]
    stored = await snapshot.rows(table.row).get(step.id)
    if stored is None or stored == msgspec.convert(expected, table.row):
        return ""
    state = table.read(stored).get("state")
    return word(state) if state else sentence("changed")


async def put_record(unit: Unit, step: Record, plan: str) -> None:
    """Run a Record step of a plan, whose id a row with a `plan` keeps. Raises ValueError for a table of others."""
    table = TABLES[step.table]
    if not table.in_plans:
        raise ValueError(f"a plan may not write the table {table.name}")
    rows = unit.rows(table.row)
    if step.row is None:
        stored = await rows.get(step.id)
        if not _is_of_another(stored, step.before):
            await rows.delete(step.id)
        return
    row = msgspec.convert(step.row, table.row)
    await rows.put(replace(row, plan=plan) if hasattr(row, "plan") else row)


def _is_of_another(stored: Any, before: dict[str, JsonValue] | None) -> bool:
    """Whether the row of this name is about another object by now: another node that has the name of the first."""
    uids = {getattr(stored, "uid", ""), (before or {}).get("uid") or ""} - {""}
    return len(uids) > 1
