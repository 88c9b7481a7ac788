"""Rows by the id that a line names, and what is said where there is none."""

from collections.abc import Mapping
from typing import Any

from alerts.incidents.incident import Incident
from alerts.silences import Silence
from alerts.store import Row, StoreSnapshot, Unit
from collectors.facts.sentences import sentence
from commands.core.command import UnusableError
from commands.execution.plan import Plan
from commands.gates.breaker import Breaker
from commands.models.reclaiming import ReclaimRequest

SHOWN = 40  # characters of an id that nothing has
_NONE: Mapping[type[Any], str] = {
    Breaker: "There is no breaker `{name}`. `breaker list` shows the open ones.",
    Incident: "There is no incident `{name}`. `incident list --all` shows the latest.",
    Plan: "There is no plan `{name}`. Plans are named p1, p2, …; `audit` lists the latest.",
    ReclaimRequest: "There is no request `{name}`. The card of a request shows its id.",
    Silence: "There is no silence `{name}`. `silence list` shows the active ones.",
}


async def named_row(row: type[Row], id: str, stored: StoreSnapshot | Unit) -> Row:
    """Return the row with this id. Raises UnusableError, with where to look, if there is none."""
    found = await stored.rows(row).get(id)
    if found is None:
        raise UnusableError(sentence(_NONE[row], name=id[:SHOWN]))
    return found
