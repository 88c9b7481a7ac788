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
from commands.gpu.reclaim import LONGEST_WAIT, MAX_LOOK, look_for_idle_now
from commands.gpu.reclaim_card import OPEN, is_owner, reclaim_card, settlement_id, settlement_of
from commands.models import ReclaimRequest, ReclaimState
from commands.plans.plan import PlanState
from commands.plans.record_steps import forget, record
from commands.plans.steps import Delete, Record, Step
from commands.store import Unit
from commands.training.training_kinds import kind_of

RETRY_AFTER = timedelta(minutes=10)  # when it cannot be known whether it still does nothing
ENDED = "the training has ended"


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerReclaim:
    request: str
    reason: str = ""
    lasting: timedelta = timedelta(hours=2)


async def keep(action: AnswerReclaim, context: CommandContext) -> Answer:
    """The owner needs them: the claim is over."""
    async with context.store.unit() as unit:
        reclaim = await _open(unit, action.request)
        _check_answerer(reclaim, context, harmless=True)
        kept = replace(_answered(reclaim, context), state=ReclaimState.KEPT, keep_reason=action.reason)
        await unit.reclaim_requests.put(kept)
        await unit.agenda.delete(settlement_id(kept))
    return Answer(message=reclaim_card(kept, context.now))


async def snooze(action: AnswerReclaim, context: CommandContext) -> Answer:
    """More time: the claim is settled later."""
    if not SHORTEST <= action.lasting <= LONGEST_WAIT:
        raise UnusableError(f"`--for` is {in_words(SHORTEST)} to {in_words(LONGEST_WAIT)}.")
    async with context.store.unit() as unit:
        reclaim = await _open(unit, action.request)
        _check_answerer(reclaim, context, harmless=True)
        moved = replace(
            _answered(reclaim, context),
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
        reclaim = await _open(unit, action.request)
        due = await unit.agenda.get(settlement_id(reclaim))
    _check_answerer(reclaim, context, harmless=False)
    training = _training(reclaim, context)
    steps = kind_of(training).suspend(training, context.cluster.inventory()) if training else ()
    if training is None or not steps:
        return PlanDraft(title="", nothing_to_do=f"{reclaim.training} holds no GPUs any more.")
    freed = replace(_answered(reclaim, context), state=ReclaimState.FREED)
    over = (
        record("reclaim_requests", freed, says="note that they are free", before=reclaim),
        *((forget("agenda", due, says="nothing is left to settle"),) if due else ()),
    )
    return PlanDraft(
        title=f"Free {reclaim.gpus:g} GPUs of {reclaim.training}",
        steps=(*steps, *over),
        disrupts=(reclaim.training,),
        notes=(f"What it did after its last checkpoint is lost; {_afterwards(steps)}.",),
    )


def _afterwards(steps: Sequence[Step]) -> str:
    if any(isinstance(step, Delete) for step in steps):
        return "and it is deleted: nothing brings it back but another launch"
    return "undoing this plan starts it anew"


async def settle(action: AnswerReclaim, context: CommandContext) -> PlanDraft:
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
        training = _training(reclaim, context)
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


def _training(reclaim: ReclaimRequest, context: CommandContext) -> Training | None:
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


async def _open(unit: Unit, named: str) -> ReclaimRequest:
    """The claim that still waits for an answer: what a plan under way does to it no answer stops."""
    reclaim = await unit.reclaim_requests.get(named)
    if reclaim is None:
        raise UnusableError(f"There is no claim `{named[:40]}`: its card shows its name.")
    if reclaim.state not in OPEN:
        raise UnusableError(f"Claim `{reclaim.id}` on {reclaim.training} is {reclaim.state.value} already.")
    if plan := (await under_way(unit)).get(reclaim.id):
        raise UnusableError(
            f"Claim `{reclaim.id}` on {reclaim.training} is being settled, by plan `{plan}`: `plan cancel {plan}` "
            f"stops it, or `plan undo {plan}` takes it back once it is over."
        )
    return reclaim


def _check_answerer(reclaim: ReclaimRequest, context: CommandContext, *, harmless: bool) -> None:
    needed = "gpu free" if harmless else "training stop"
    namespace = reclaim.training.partition("/")[0]
    if is_owner(reclaim, context.actor, by_name=harmless) or context.refusal(needed, namespace) is None:
        return
    owner = reclaim.owner or "its owner"
    raise UnusableError(
        f"Claim `{reclaim.id}` is for {owner} to answer, or for whoever may `{needed}` there."
    )


def _answered(reclaim: ReclaimRequest, context: CommandContext) -> ReclaimRequest:
    return replace(reclaim, answered_by=context.actor.id, answered_at=context.now)


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
