"""Rows by the id that a line names."""

from alerts.store import Row, StoreSnapshot, Unit
from collectors.facts.sentences import sentence
from commands.core.command import UnusableError
from commands.execution.plan import Plan

SHOWN = 40  # characters of an id that nothing has
_NO_PLAN = "There is no plan `{name}`. Plans are named p1, p2, …; `audit` lists the latest."


async def named_row(row: type[Row], id: str, stored: StoreSnapshot | Unit, *, none: str) -> Row:
    """Return the row with this id. Raises UnusableError, which says `none` of its `name`, if there is none."""
    found = await stored.rows(row).get(id)
    if found is None:
        raise UnusableError(sentence(none, name=id[:SHOWN]))
    return found


async def named_plan(id: str, stored: StoreSnapshot | Unit) -> Plan:
    """Return the plan with this id. Raises UnusableError, with where to look, if there is none."""
    return await named_row(Plan, id, stored, none=_NO_PLAN)
