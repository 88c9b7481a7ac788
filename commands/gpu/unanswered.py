"""Requests for idle GPUs that nobody answers: `gpu settle` suspends the training, and the agenda runs it when due."""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from alerts.store import StoreSnapshot, Unit
from collectors.facts.results import SourceError
from collectors.facts.sentences import counted, headline_of, said_by, sentence, word
from collectors.gpu_activity import Activity
from collectors.trainings.catalogue import unseen_kinds
from collectors.trainings.training import Training, training_of_row
from commands.core.command import PlanDraft
from commands.core.context import CommandContext
from commands.core.named_rows import named_row
from commands.execution.disruption import Disruption
from commands.execution.plan import GATED, Plan, PlanState, StepRecord, StepState, in_order
from commands.execution.steps import Record
from commands.gpu.idle_trainings import by_training, evidence
from commands.gpu.reclaim import MAX_WINDOW, find_idle_now
from commands.gpu.reclaim_requests import SETTLEMENT, freed_step, request_step, settlement_of, settlement_step
from commands.models import OPEN_REQUEST, DueCommand, HandledRequest, ReclaimRequest, ReclaimState
from commands.training.workload_steps import suspend_steps, suspension_refusal

NEWEST = 200  # cancelled plans that are looked at
RETRY_AFTER = timedelta(minutes=10)  # when it is not known whether the training is still idle
LONGEST_PAUSE = timedelta(hours=1)
ENDED = sentence("the training has ended")


@dataclass(frozen=True, slots=True, kw_only=True)
class SettleReclaim:
    request: str


async def named_request(id: str, stored: StoreSnapshot | Unit) -> ReclaimRequest:
    """Return the request with this id. Raises UnusableError, with where to look, if there is none."""
    return await named_row(
        ReclaimRequest, id, stored, none="There is no request `{name}`. The card of a request shows its id."
    )


async def settle(action: SettleReclaim, context: CommandContext) -> PlanDraft:
    """Plan how to settle a request without an answer. Only a training seen to be still idle is suspended."""
    async with context.store.unit() as unit:
        reclaim = await named_request(action.request, unit)
    if reclaim.for_plan:
        return PlanDraft.nothing(
            sentence(
                "Plan {plan} waits for an answer to request {request}: it is not settled without one.",
                plan=reclaim.for_plan,
                request=reclaim.id,
            )
        )
    if reclaim.state not in OPEN_REQUEST:
        return PlanDraft.nothing(
            sentence(
                "Request {request} is already {state}.", request=reclaim.id, state=word(reclaim.state.value)
            )
        )
    if context.now < reclaim.grace_until:
        return PlanDraft.nothing(
            sentence(
                "Request {request} can be answered until {at}.",
                request=reclaim.id,
                at=reclaim.grace_until,
            )
        )
    try:
        training = training_of(reclaim, context)
    except SourceError as reason:  # without a plan nothing would retry
        return _later(reclaim, said_by(reason), context)
    if training is None:
        unseen = unseen_kinds(context.cluster.inventory())
        return _later(reclaim, next(iter(unseen.values())), context) if unseen else _void(reclaim, ENDED)
    # Any work since the request counts as an answer.
    look = await find_idle_now(
        context, min(max(context.defaults.idle_after, context.now - reclaim.asked_at), MAX_WINDOW)
    )
    gpus = next(
        (
            one
            for one in by_training(look, context.cluster.trainings(), context.cluster.topology())
            if one.training and one.training.id == training.id
        ),
        None,
    )
    if look.blind or (gpus is not None and gpus.activity is Activity.UNKNOWN):
        return _later(reclaim, look.blind or (gpus.reason if gpus else ""), context)
    if gpus is None:
        return _void(reclaim, sentence("it no longer holds GPUs"))
    if gpus.activity is not Activity.IDLE:
        is_busy = gpus.activity is Activity.BUSY
        return _void(reclaim, sentence("it is busy again") if is_busy else sentence("it was restarted"))
    inventory = context.cluster.inventory()
    if refusal := suspension_refusal(training, inventory):
        return _void(reclaim, headline_of(refusal))
    steps = suspend_steps(training, inventory)
    if not steps:
        return _void(reclaim, sentence("it is already suspended"))
    freed = freed_step(
        replace(reclaim, state=ReclaimState.FREED),
        steps,
        before=reclaim,
    )
    return PlanDraft(
        title=counted(
            "Free {count:g} idle GPU of {training}",
            "Free {count:g} idle GPUs of {training}",
            count=reclaim.gpus,
            training=reclaim.shown,
        ),
        stages=in_order(*steps, freed),
        disrupts=(
            Disruption(name=reclaim.training, shown=reclaim.shown, owner=reclaim.owner, gpus=reclaim.gpus),
        ),
        notes=(
            sentence(
                "Request {request} was not answered in time, and there is {evidence}.",
                request=reclaim.id,
                evidence=evidence(gpus, look),
            ),
        ),
    )


def training_of(reclaim: ReclaimRequest, context: CommandContext) -> Training | None:
    found = training_of_row(reclaim.training, context.cluster.trainings())
    return found if found is not None and not found.state.is_over else None


async def running_plans(unit: Unit) -> dict[str, str]:
    """Return the ids of the requests that a plan under way may still change, with the id of that plan.

    Under way is also a cancelled plan whose current step goes on, and one with a step whose outcome is not known.
    """
    plans = list(await unit.rows(Plan).find(state=(*GATED, PlanState.RUNNING)))
    newest = await unit.rows(Plan).find(state=PlanState.CANCELLED, newest=True, limit=NEWEST)
    plans += [plan for plan in newest if not plan.has_ended]
    unknown = {record.plan for record in await unit.rows(StepRecord).find(state=StepState.UNKNOWN)}
    plans += (await unit.rows(Plan).get_all(unknown)).values() if unknown else ()
    return {
        step.id: plan.id
        for plan in plans
        for step in plan.steps
        if isinstance(step, Record) and step.table == "reclaim_requests"
    }


def _void(reclaim: ReclaimRequest, reason: str) -> PlanDraft:
    void = replace(reclaim, state=ReclaimState.VOID, keep_reason=reason)
    step = request_step(void, text=sentence("close the request: {reason}", reason=reason), before=reclaim)
    return PlanDraft(
        title=sentence("Drop the request for {training}", training=reclaim.shown), stages=in_order(step)
    )


def _later(reclaim: ReclaimRequest, reason: str, context: CommandContext) -> PlanDraft:
    later = replace(reclaim, grace_until=context.now + RETRY_AFTER)
    steps = (
        request_step(
            later,
            text=sentence(
                "wait {lasting} more, as its activity is not known: {reason}",
                lasting=RETRY_AFTER,
                reason=reason,
            ),
            before=reclaim,
        ),
        settlement_step(later),
    )
    return PlanDraft(
        title=sentence("Check {training} again later", training=reclaim.shown), stages=in_order(*steps)
    )


async def lost_settlement(reclaim: ReclaimRequest, unit: Unit, now: datetime) -> DueCommand | None:
    """Return the settlement of an open request that is missing from the agenda and from plans in progress.

    It may have been refused or interrupted, or its plan may have failed or been undone. One that was tried is due after
    a pause, at a new time: the old request id is already handled. The pause is as long as the request is late, within
    bounds, so it doubles from attempt to attempt.
    """
    due = settlement_of(reclaim)
    if reclaim.settle_at is None or await unit.rows(DueCommand).get(due.id) is not None:
        return None
    if reclaim.id in await running_plans(unit):
        return None
    was_tried = await unit.rows(HandledRequest).get(due.request) is not None
    return replace(due, at=_retry_at(reclaim, now)) if was_tried else due


def request_of(due: DueCommand) -> str:
    """Return the id of the reclaim request that a due command settles; none for another command."""
    return due.id.removeprefix(SETTLEMENT)


def _retry_at(reclaim: ReclaimRequest, now: datetime) -> datetime:
    late = now - reclaim.grace_until
    return now + min(max(RETRY_AFTER, late), LONGEST_PAUSE)
