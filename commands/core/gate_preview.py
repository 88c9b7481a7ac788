"""The gates in a preview: the figures of the budgets, and what would hold the plan back."""

from dataclasses import replace

from alerts.store import StoreSnapshot
from collectors.facts.results import SourceError
from collectors.facts.sentences import said_by, sentence
from commands.core.budgets import Budgets
from commands.execution.plan import Plan
from commands.execution.plan_gate import Gates, verdict_on


async def with_verdict(plan: Plan, gates: Gates, budgets: Budgets | None, rows: StoreSnapshot) -> Plan:
    """Return a proposed plan with the figures of its budgets, and with what would hold it back."""
    verdict = await verdict_on(plan, gates, rows)
    notes: list[str] = list(plan.notes)
    try:
        uses = await budgets.uses(plan, rows) if budgets is not None else ()
    except SourceError as error:
        uses = ()
        if plan.over_budget:
            notes.append(sentence("Its budgets are not known: {error}", error=said_by(error)))
    notes += [use.said for use in uses if not use.is_over or plan.over_budget]
    if not verdict.holds:
        return replace(plan, notes=tuple(notes))
    held_by = tuple(dict.fromkeys((*plan.held_by, *verdict.by)))
    return replace(plan, notes=tuple(notes), held=verdict.reason, held_by=held_by, gates=verdict.gates)
