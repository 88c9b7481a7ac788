"""Recording of how a plan ended: in the audit log, on its incident, and on the plan that it reverts."""

from dataclasses import replace
from datetime import datetime
from typing import Any

from alerts.cards.posted import CardKind, PostedCard, ThreadReply, reply_id
from alerts.cards.text import person, text
from alerts.incidents.grouping import add_action
from alerts.incidents.incident import Incident
from alerts.incidents.member_rows import incident_write, whole_ones, write_incident
from alerts.incidents.proofs_of_actions import note_repair
from alerts.store import Unit
from collectors.facts.sentences import sentence
from collectors.facts.stepwise import result_of
from commands.execution.audited import entry_id, entry_of
from commands.execution.automation_ids import is_automation
from commands.execution.plan import GATED, Plan, PlanState
from commands.execution.steps import Record
from commands.models import AuditEntry


async def end_unbegun(unit: Unit, plan: Plan, reason: str, now: datetime) -> Plan:
    """Cancel a plan of which no step has begun, and return it. The outcome of one that was confirmed is recorded."""
    ended = replace(plan, state=PlanState.CANCELLED, error=reason, ended_at=now)
    await unit.rows(Plan).put(ended)
    if plan.state in GATED:
        await record_outcome(unit, ended)
    return ended


async def notify_asker(unit: Unit, plan: Plan) -> None:
    """Reply under the cards of a plan that waited and was not done: who asked for it counts on it."""
    if is_automation(plan.actor) or plan.ended_at is None:
        return
    words = text(
        person(plan.actor, plan.actor_name),
        ": ",
        sentence("{title} was not done: {why}", title=plan.title, why=plan.error),
    )
    for card in await unit.rows(PostedCard).find(kind=CardKind.PLAN.value, row_id=plan.id):
        reply = ThreadReply(
            id=reply_id(card.id, "not done"), cluster=plan.cluster, card=card.id, text=words, at=plan.ended_at
        )
        await unit.rows(ThreadReply).add(reply)


def of_outcome(plan: Plan) -> list[tuple[type[Any], str]]:
    """Return the rows that `record_outcome` gets of a plan that probably ends as done."""
    incidents = [(Incident, id) for id in (plan.origin.incident, *plan.concerned) if id]
    return [(AuditEntry, entry_id(plan, PlanState.DONE.value)), *incidents]


async def record_outcome(unit: Unit, plan: Plan) -> None:
    """Record a plan that has ended, once, in the same transaction as its final state."""
    assert plan.ended_at is not None
    entry = entry_of(plan, plan.state.value, plan.ended_at, reason=plan.error)
    if not await unit.rows(AuditEntry).add(entry):
        return
    changed = [step.id for step in plan.steps if isinstance(step, Record)] if plan.undo_of else ()
    for id in changed:  # their cards show it, even if the undo then failed
        for card in await unit.rows(PostedCard).find(row_id=id):
            await reopen(card, unit)
    if plan.state is not PlanState.DONE:
        return
    if plan.undo_of and (undone := await unit.rows(Plan).get(plan.undo_of)) is not None:
        await unit.rows(Plan).put(replace(undone, undone_by=plan.id))
        for card in await unit.rows(PostedCard).find(kind=CardKind.PLAN.value, row_id=undone.id):
            await reopen(card, unit)  # the card shows that the plan was undone, even long afterwards
    for incident in await _concerned(unit, plan):
        updated = add_action(
            incident,
            plan=plan.id,
            line=plan.line,
            who=plan.actor,
            who_name=plan.actor_name,
            now=plan.ended_at,
        )
        if plan.relieves:
            await _note_repair(updated, incident, plan, unit)
        else:
            await unit.rows(Incident).put(updated)
        for card in await unit.rows(PostedCard).find(kind=CardKind.INCIDENT.value, row_id=incident.id):
            await reopen(
                card, unit
            )  # what the plan freed may end the incident, and its card, before the plan ends


async def _note_repair(updated: Incident, stored: Incident, plan: Plan, unit: Unit) -> None:
    """Store the incident with what the plan has relieved in it, also in alerts that are rows of their own."""
    assert plan.ended_at is not None
    (whole,) = await whole_ones([updated], unit)
    after = note_repair(whole, nodes=_nodes(plan), relieves=plan.relieves, now=plan.ended_at)
    await write_incident(unit, result_of(incident_write(after, whole, stored)))


async def _concerned(unit: Unit, plan: Plan) -> list[Incident]:
    """Return the incidents that the plan was run for: where it was pressed, and those about what it changed.

    The latter were open when it was confirmed; one that was reopened since has begun after it.
    Whether a person typed it, pressed it or automation ran it makes no difference.
    """
    found = await unit.rows(Incident).get_all([id for id in (plan.origin.incident, *plan.concerned) if id])
    return [
        one
        for one in found.values()
        if one.id == plan.origin.incident or (plan.confirmed_at and one.began_at <= plan.confirmed_at)
    ]


async def open_incidents_about(unit: Unit, plan: Plan) -> tuple[str, ...]:
    """Return the ids of the incidents about what the plan changes that are open, as the plan is being confirmed.

    Their moments cannot tell it later: a cycle of the rules is dated when it begins, and looks at the cluster after it.
    So an incident that a plan ends may have ended, by its date, before the plan was confirmed.
    """
    rows = await unit.rows(Incident).find(cluster=plan.cluster, group_key=_changed_by(plan), state="open")
    return tuple(one.id for one in rows)


def _changed_by(plan: Plan) -> list[str]:
    """Return the group keys of what the plan changes: nodes, trainings, and the component that its command is of."""
    nodes = {f"node/{name}" for name in _nodes(plan)}
    trainings = {f"training/{one.name}" for one in plan.disrupts}
    return sorted({*nodes, *trainings, f"component/{plan.command.partition(' ')[0]}"})


def _nodes(plan: Plan) -> set[str]:
    return {step.ref.name for step in plan.steps if not isinstance(step, Record) and step.ref.kind == "Node"}


async def reopen(card: PostedCard, unit: Unit) -> PostedCard:
    """Return the card, which gets updates again if it was final."""
    if not card.is_final:
        return card
    reopened = replace(card, is_final=False)
    await unit.rows(PostedCard).put(reopened)
    return reopened
