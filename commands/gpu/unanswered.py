"""What becomes of a reclaim request that nobody answers: `gpu settle`, and the requests that lost their place."""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from collectors.facts.clock import in_words
from collectors.facts.results import SourceError
from collectors.trainings.catalogue import unseen_kinds
from collectors.trainings.training import Training
from commands.core.command import PlanDraft, UnusableError
from commands.core.context import CommandContext
from commands.gpu.idle_detection import Activity
from commands.gpu.idle_trainings import by_training, evidence
from commands.gpu.reclaim import MAX_LOOK, look_for_idle_now
from commands.gpu.reclaim_card import OPEN, settlement_id, settlement_of
from commands.models import DueCommand, ReclaimRequest, ReclaimState
from commands.plans.plan import PlanState
from commands.plans.record_steps import record
from commands.plans.steps import Record
from commands.store import Unit
from commands.training.training_kinds import kind_of

RETRY_AFTER = timedelta(minutes=10)  # when it cannot be known whether it still does nothing
LONGEST_PAUSE = timedelta(hours=1)
ENDED = "the training has ended"


@dataclass(frozen=True, slots=True, kw_only=True)
class SettleReclaim:
    request: str


async def settle(action: SettleReclaim, context: CommandContext) -> PlanDraft:
    """What becomes of a claim that nobody answered. Only what is seen to do nothing, still, is paused."""
    async with context.store.unit() as unit:
        reclaim = await unit.reclaim_requests.get(action.request)
    if reclaim is None:
        raise UnusableError(f"There is no claim `{action.request}`.")
    if reclaim.state not in OPEN:
        return PlanDraft(title="", nothing_to_do=f"Claim {reclaim.id} is {reclaim.state.value} already.")
    if context.now < reclaim.grace_until:
        return PlanDraft(
            title="", nothing_to_do=f"Claim {reclaim.id} has time until {reclaim.grace_until:%H:%M} UTC."
        )
    try:
        training = training_of(reclaim, context)
    except SourceError as reason:  # it is not asked for again by itself
        return _later(reclaim, str(reason), context)
    if training is None:
        unseen = unseen_kinds(context.cluster.inventory())
        return _later(reclaim, next(iter(unseen.values())), context) if unseen else _void(reclaim, ENDED)
    # Whoever worked since the question has answered it.
    look = await look_for_idle_now(
        context, min(max(context.defaults.idle_after, context.now - reclaim.asked_at), MAX_LOOK)
    )
    mine = next(
        (
            one
            for one in by_training(look, context.cluster.trainings())
            if one.training and one.training.id == training.id
        ),
        None,
    )
    if look.blind or (mine is not None and mine.activity is Activity.UNKNOWN):
        return _later(reclaim, look.blind or (mine.reason if mine else ""), context)
    if mine is None:
        return _void(reclaim, "it holds no GPUs any more")
    if mine.activity is not Activity.IDLE:
        return _void(reclaim, "it works again" if mine.activity is Activity.BUSY else "it was started anew")
    steps = kind_of(training).suspend(training, context.cluster.inventory())
    if not steps:
        return _void(reclaim, "it is suspended already")
    freed = record(
        "reclaim_requests",
        replace(reclaim, state=ReclaimState.FREED),
        says="note that they are free",
        before=reclaim,
    )
    return PlanDraft(
        title=f"Free {reclaim.gpus:g} idle GPUs of {reclaim.training}",
        steps=(*steps, freed),
        disrupts=(reclaim.training,),
        notes=(f"Nobody answered claim {reclaim.id} in time, and there is {evidence(mine, look)}.",),
    )


def training_of(reclaim: ReclaimRequest, context: CommandContext) -> Training | None:
    found = next(
        (training for training in context.cluster.trainings() if training.id == reclaim.training), None
    )
    return found if found is not None and not found.state.is_over else None


async def under_way(unit: Unit) -> dict[str, str]:
    """The claims of which a plan under way says what becomes of them, and that plan."""
    return {
        step.id: plan.id
        for state in (PlanState.CONFIRMED, PlanState.RUNNING)
        for plan in await unit.plans.find(state=state.value)
        for step in plan.steps
        if isinstance(step, Record) and step.table == "reclaim_requests"
    }


def _void(reclaim: ReclaimRequest, reason: str) -> PlanDraft:
    void = replace(reclaim, state=ReclaimState.VOID, keep_reason=reason)
    step = record("reclaim_requests", void, says=f"note that nothing is to be done: {reason}", before=reclaim)
    return PlanDraft(title=f"Drop the claim on {reclaim.training}", steps=(step,))


def _later(reclaim: ReclaimRequest, reason: str, context: CommandContext) -> PlanDraft:
    later = replace(reclaim, grace_until=context.now + RETRY_AFTER)
    steps = (
        record(
            "reclaim_requests",
            later,
            says=f"wait {in_words(RETRY_AFTER)} more, for it is not known: {reason}",
            before=reclaim,
        ),
        record("agenda", settlement_of(later), says="settle it then"),
    )
    return PlanDraft(title=f"Look at {reclaim.training} again later", steps=steps)


async def lost_settlements(unit: Unit, now: datetime) -> list[DueCommand]:
    """What the agenda lacks: the settling of each open claim that is not on it, nor in a plan under way.

    Settling may have been refused or cut off, its plan may have failed, or somebody undid it. A claim whose time
    is up is due after a pause, at a new moment: its old gesture would not be taken again. The pause is as long as
    the claim is late, within bounds: so it doubles from try to try.
    """
    in_plans = await under_way(unit)  # read first: a plan that ends meanwhile has left its mark
    found = [
        reclaim
        for state in OPEN
        for reclaim in await unit.reclaim_requests.find(state=state.value, limit=10_000)
    ]
    return [
        replace(settlement_of(reclaim), at=_again(reclaim, now))
        for reclaim in found
        if reclaim.id not in in_plans and await unit.agenda.get(settlement_id(reclaim)) is None
    ]


def _again(reclaim: ReclaimRequest, now: datetime) -> datetime:
    late = now - reclaim.grace_until
    return reclaim.grace_until if late < timedelta() else now + min(max(RETRY_AFTER, late), LONGEST_PAUSE)
