"""Steps whose outcome is not known: once the cluster answers, does what they were for stand?"""

from dataclasses import replace
from datetime import datetime

from alerts.cards.posted import CardKind, PostedCard
from alerts.store import Store, Unit
from collectors.facts.sentences import counted, sentence
from commands.execution.object_refs import ObjectReader
from commands.execution.plan import Plan, PlanState, StepRecord, StepState
from commands.execution.plan_journal import recorded_of, records_of
from commands.execution.plan_outcome import record_outcome, reopen
from commands.execution.record_steps import put_record
from commands.execution.step_outcomes import Done, Outcome, Refused, Unknown, Waiting
from commands.execution.steps import Record


async def settle_plan(plan: Plan, reader: ObjectReader, store: Store, now: datetime) -> Plan:
    """Look at each step of an ended plan whose outcome is not known, and store what was found.

    The Record steps of a step that was done are done too. Raises SourceError while the cluster does not answer.
    """
    if not plan.has_ended:
        return plan  # its executor stores how it ends
    async with store.unit() as unit:
        records = await records_of(plan, unit)
    found: dict[int, Outcome] = {}
    for record in records:
        if record.state is StepState.UNKNOWN:
            found[record.number] = await plan.steps[record.number].observe(reader, plan.id)
    for number, step in enumerate(
        plan.steps
    ):  # the node may have changed since: then there is no lease of it
        recorded = recorded_of(plan.steps, number)
        if recorded is not None and number not in found and isinstance(found.get(recorded), Done):
            found[number] = await step.observe(reader, plan.id)
    if not any(isinstance(outcome, Done | Refused) for outcome in found.values()):
        return plan
    async with store.unit() as unit:
        stored = await unit.rows(Plan).get(plan.id) or plan
        records = await records_of(stored, unit)  # another look may have been faster
        unknown = {one.number for one in records if one.state is StepState.UNKNOWN}
        for number, outcome in found.items():
            if number in unknown or recorded_of(stored.steps, number) in unknown:
                await _store_outcome(stored, records[number], outcome, unit, now)
        settled = _judged(stored, await records_of(stored, unit), now)
        if settled != stored:
            await unit.rows(Plan).put(settled)
            await record_outcome(unit, settled)
            for card in await unit.rows(PostedCard).find(kind=CardKind.PLAN.value, row_id=plan.id):
                await reopen(card, unit)
    return settled


async def _store_outcome(plan: Plan, record: StepRecord, outcome: Outcome, unit: Unit, now: datetime) -> None:
    match outcome:
        case Done():
            step = plan.steps[record.number]
            if isinstance(step, Record):
                await put_record(unit, step, plan.id)
            seen = (
                sentence("recorded")
                if isinstance(step, Record)
                else sentence("a later check showed that it was done")
            )
            await unit.rows(StepRecord).put(
                replace(record, state=StepState.DONE, uid=outcome.uid, outcome=seen, ended_at=now)
            )
        case Refused():
            not_done = sentence("a later check showed that it was not done: {reason}", reason=outcome.reason)
            await unit.rows(StepRecord).put(
                replace(record, state=StepState.FAILED, outcome=not_done, ended_at=now)
            )
        case Waiting() | Unknown():
            pass  # looked at again later


def _judged(plan: Plan, records: tuple[StepRecord, ...], now: datetime) -> Plan:
    """Return the plan as it ended, by what is known of its steps now."""
    if any(one.state is StepState.UNKNOWN for one in records):
        return plan
    if all(one.state is StepState.DONE for one in records):
        return replace(plan, state=PlanState.DONE, error="", ended_at=now)
    failed = next((one.outcome for one in records if one.state is StepState.FAILED), "")
    skipped = sum(one.state is StepState.SKIPPED for one in records)
    reason = failed or counted(
        "it was interrupted, and {count} later step was not run",
        "it was interrupted, and {count} later steps were not run",
        count=skipped,
    )
    return replace(plan, error=reason)
