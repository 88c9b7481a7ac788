"""This file does what becomes of a claim: `gpu keep|snooze|release|settle`."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta

from collectors.facts.clock import in_words
from commands.core.command import Answer, PlanDraft, UnusableError
from commands.core.context import CommandContext
from commands.gpu.idle_detection import SHORTEST
from commands.gpu.reclaim import LONGEST_WAIT
from commands.gpu.reclaim_card import OPEN, is_owner, reclaim_card, settlement_id, settlement_of
from commands.gpu.unanswered import training_of, under_way
from commands.models import ReclaimRequest, ReclaimState
from commands.plans.record_steps import forget, record
from commands.plans.steps import Delete, Step
from commands.store import Unit
from commands.training.training_kinds import kind_of


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
    training = training_of(reclaim, context)
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
