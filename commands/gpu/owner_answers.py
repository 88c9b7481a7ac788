"""This file does what becomes of a claim: `gpu keep|snooze|release|settle`."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta

from collectors.facts.clock import in_words
from collectors.facts.results import SourceError
from collectors.trainings.catalogue import unseen_kinds
from collectors.trainings.training import Training
from commands.core.command import Answer, PlanDraft, UnusableError
from commands.core.context import CommandContext
from commands.gpu.idle_detection import SHORTEST, Activity
from commands.gpu.idle_trainings import by_training, evidence
from commands.gpu.reclaim import LONGEST_LOOK, LONGEST_WAIT, look_now
from commands.gpu.reclaim_card import OPEN, is_owner, reclaim_card, settlement_id, settlement_of
from commands.models import ReclaimRequest, ReclaimState
from commands.plans.plan import PlanState
from commands.plans.record_steps import forget, record
from commands.plans.steps import Delete, Record, Step
from commands.store import Unit
from commands.training.training_kinds import kind_of

LOOK_AGAIN = timedelta(minutes=10)  # when it cannot be known whether it still does nothing
ENDED = "the training has ended"


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerReclaim:
    claim: str
    reason: str = ""
    lasting: timedelta = timedelta(hours=2)


async def keep(action: AnswerReclaim, context: CommandContext) -> Answer:
    """The owner needs them: the claim is over."""
    async with context.store.unit() as unit:
        claim = await _open(unit, action.claim)
        _check_answerer(claim, context, harmless=True)
        kept = replace(_answered(claim, context), state=ReclaimState.KEPT, keep_reason=action.reason)
        await unit.reclaim_requests.put(kept)
        await unit.agenda.delete(settlement_id(kept))
    return Answer(message=reclaim_card(kept, context.now))


async def snooze(action: AnswerReclaim, context: CommandContext) -> Answer:
    """More time: the claim is settled later."""
    if not SHORTEST <= action.lasting <= LONGEST_WAIT:
        raise UnusableError(f"`--for` is {in_words(SHORTEST)} to {in_words(LONGEST_WAIT)}.")
    async with context.store.unit() as unit:
        claim = await _open(unit, action.claim)
        _check_answerer(claim, context, harmless=True)
        moved = replace(
            _answered(claim, context),
            state=ReclaimState.SNOOZED,
            keep_reason=action.reason,
            grace_until=context.now + action.lasting,
        )
        await unit.reclaim_requests.put(moved)
        await unit.agenda.put(settlement_of(moved))
    return Answer(message=reclaim_card(moved, context.now))


async def release(action: AnswerReclaim, context: CommandContext) -> PlanDraft:
    """The owner gives them back: the training pauses now."""
    async with context.store.unit() as unit:
        claim = await _open(unit, action.claim)
        due = await unit.agenda.get(settlement_id(claim))
    _check_answerer(claim, context, harmless=False)
    training = _training(claim, context)
    steps = kind_of(training).suspend(training, context.cluster.inventory()) if training else ()
    if training is None or not steps:
        return PlanDraft(title="", nothing_to_do=f"{claim.training} holds no GPUs any more.")
    freed = replace(_answered(claim, context), state=ReclaimState.FREED)
    over = (
        record("reclaim_requests", freed, says="note that they are free", before=claim),
        *((forget("agenda", due, says="nothing is left to settle"),) if due else ()),
    )
    return PlanDraft(
        title=f"Free {claim.gpus:g} GPUs of {claim.training}",
        steps=(*steps, *over),
        disrupts=(claim.training,),
        notes=(f"What it did after its last checkpoint is lost; {_afterwards(steps)}.",),
    )


def _afterwards(steps: Sequence[Step]) -> str:
    if any(isinstance(step, Delete) for step in steps):
        return "and it is deleted: nothing brings it back but another launch"
    return "undoing this plan starts it anew"


async def settle(action: AnswerReclaim, context: CommandContext) -> PlanDraft:
    """What becomes of a claim that nobody answered. Only what is seen to do nothing, still, is paused."""
    async with context.store.unit() as unit:
        claim = await unit.reclaim_requests.get(action.claim)
    if claim is None:
        raise UnusableError(f"There is no claim `{action.claim}`.")
    if claim.state not in OPEN:
        return PlanDraft(title="", nothing_to_do=f"Claim {claim.id} is {claim.state.value} already.")
    if context.now < claim.grace_until:
        return PlanDraft(
            title="", nothing_to_do=f"Claim {claim.id} has time until {claim.grace_until:%H:%M} UTC."
        )
    try:
        training = _training(claim, context)
    except SourceError as why:  # it is not asked for again by itself
        return _later(claim, str(why), context)
    if training is None:
        unseen = unseen_kinds(context.cluster.inventory())
        return _later(claim, next(iter(unseen.values())), context) if unseen else _void(claim, ENDED)
    # Whoever worked since the question has answered it.
    look = await look_now(
        context, min(max(context.defaults.idle_after, context.now - claim.asked_at), LONGEST_LOOK)
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
        return _later(claim, look.blind or (mine.why if mine else ""), context)
    if mine is None:
        return _void(claim, "it holds no GPUs any more")
    if mine.activity is not Activity.IDLE:
        return _void(claim, "it works again" if mine.activity is Activity.BUSY else "it was started anew")
    steps = kind_of(training).suspend(training, context.cluster.inventory())
    if not steps:
        return _void(claim, "it is suspended already")
    freed = record(
        "reclaim_requests",
        replace(claim, state=ReclaimState.FREED),
        says="note that they are free",
        before=claim,
    )
    return PlanDraft(
        title=f"Free {claim.gpus:g} idle GPUs of {claim.training}",
        steps=(*steps, freed),
        disrupts=(claim.training,),
        notes=(f"Nobody answered claim {claim.id} in time, and there is {evidence(mine, look)}.",),
    )


def _training(claim: ReclaimRequest, context: CommandContext) -> Training | None:
    found = next(
        (training for training in context.cluster.trainings() if training.id == claim.training), None
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


async def _open(unit: Unit, named: str) -> ReclaimRequest:
    """The claim that still waits for an answer: what a plan under way does to it no answer stops."""
    claim = await unit.reclaim_requests.get(named)
    if claim is None:
        raise UnusableError(f"There is no claim `{named[:40]}`: its card shows its name.")
    if claim.state not in OPEN:
        raise UnusableError(f"Claim `{claim.id}` on {claim.training} is {claim.state.value} already.")
    if plan := (await under_way(unit)).get(claim.id):
        raise UnusableError(
            f"Claim `{claim.id}` on {claim.training} is being settled, by plan `{plan}`: `plan cancel {plan}` "
            f"stops it, or `plan undo {plan}` takes it back once it is over."
        )
    return claim


def _check_answerer(claim: ReclaimRequest, context: CommandContext, *, harmless: bool) -> None:
    needed = "gpu free" if harmless else "training stop"
    namespace = claim.training.partition("/")[0]
    if is_owner(claim, context.actor, by_name=harmless) or context.refusal(needed, namespace) is None:
        return
    owner = claim.owner or "its owner"
    raise UnusableError(f"Claim `{claim.id}` is for {owner} to answer, or for whoever may `{needed}` there.")


def _answered(claim: ReclaimRequest, context: CommandContext) -> ReclaimRequest:
    return replace(claim, answered_by=context.actor.id, answered_at=context.now)


def _void(claim: ReclaimRequest, why: str) -> PlanDraft:
    void = replace(claim, state=ReclaimState.VOID, keep_reason=why)
    step = record("reclaim_requests", void, says=f"note that nothing is to be done: {why}", before=claim)
    return PlanDraft(title=f"Drop the claim on {claim.training}", steps=(step,))


def _later(claim: ReclaimRequest, why: str, context: CommandContext) -> PlanDraft:
    later = replace(claim, grace_until=context.now + LOOK_AGAIN)
    steps = (
        record(
            "reclaim_requests",
            later,
            says=f"wait {in_words(LOOK_AGAIN)} more, for it is not known: {why}",
            before=claim,
        ),
        record("agenda", settlement_of(later), says="settle it then"),
    )
    return PlanDraft(title=f"Look at {claim.training} again later", steps=steps)
