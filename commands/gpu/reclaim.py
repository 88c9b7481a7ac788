"""This file plans to ask the owners of idle trainings for their GPUs: `gpu free`."""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from collectors.facts.clock import in_words
from collectors.trainings.training import Training
from commands.core.command import DeniedError, PlanDraft, UnusableError
from commands.core.context import CommandContext
from commands.gpu.idle_detection import SHORTEST, Activity, IdleLook, look_for_idle
from commands.gpu.idle_trainings import TrainingGpus, by_training, evidence
from commands.gpu.reclaim_card import KEEP_FOR, OPEN, request_id, settlement_of, taken
from commands.models import ReclaimRequest, ReclaimState
from commands.plans.record_steps import record
from commands.plans.steps import Delete, Record, Step
from commands.training.lookup import training_named
from commands.training.training_kinds import kind_of

MAX_LOOK = timedelta(hours=24)
LONGEST_WAIT = timedelta(days=3)
LATE = timedelta(hours=1)  # a claim that is open for so long after its time does not hinder another
AT_MOST = 50  # claims of one line
NAMED = 8  # trainings of one line that are left out, by name
NAME = "gpu free"


@dataclass(frozen=True, slots=True, kw_only=True)
class FreeGpus:
    trainings: tuple[str, ...]
    after: timedelta | None
    grace: timedelta | None


async def free(action: FreeGpus, context: CommandContext) -> PlanDraft:
    """Claims on trainings of which every GPU did nothing; their owners are asked, and after the grace they pause."""
    grace = action.grace if action.grace is not None else context.defaults.reclaim_grace
    if (
        action.grace is not None and not SHORTEST <= grace <= LONGEST_WAIT
    ):  # the site's own wish is its own matter
        raise UnusableError(f"`--grace` is {in_words(SHORTEST)} to {in_words(LONGEST_WAIT)}.")
    look = await look_for_idle_now(
        context, action.after if action.after is not None else context.defaults.idle_after
    )
    if look.blind:
        raise UnusableError(f"Whether any GPU does nothing is not known: {look.blind}")
    found = by_training(look, context.cluster.trainings())
    steps: list[Step] = []
    notes: list[str] = []
    reclaims: list[ReclaimRequest] = []
    meant, left = _given(_meant(action.trainings, found, context), context)
    is_denied = bool(left)
    more = 0
    for one in meant:
        assert one.training is not None
        earlier = await _reclaims_of(one.training, context)
        reason = _why_not(earlier, context.now, is_named=bool(action.trainings))
        if reason:
            left.append(f"{one.training.id}: {reason}")
            continue
        if len(reclaims) == AT_MOST:
            more += 1
            continue
        pause = kind_of(one.training).suspend(one.training, context.cluster.inventory())
        is_for_good = any(isinstance(step, Delete) for step in pause)
        steps += [_dropped(old) for old in earlier if old.state in OPEN]
        made = await _reclaim(one, look, context, grace=grace, earlier=len(earlier))
        reclaim = replace(made, is_for_good=is_for_good)
        reclaims.append(reclaim)
        notes.append(_who_is_asked(reclaim, grace))
        steps.append(_query(reclaim))
        steps.append(
            record("agenda", settlement_of(reclaim), says=f"settle it at {reclaim.grace_until:%H:%M} UTC")
        )
    if more:
        left.append(f"{more} more trainings: one line asks for {AT_MOST} at most, write it again for these")
    if not steps:
        reason = "; ".join(left) or f"no training's GPUs did nothing for {in_words(look.after)}"
        nothing = f"Nobody is to be asked: {reason}."
        if is_denied:
            raise DeniedError(nothing)
        return PlanDraft(title="", nothing_to_do=nothing)
    gpus = sum(reclaim.gpus for reclaim in reclaims)
    title = f"Ask for {gpus:g} idle GPUs of {len(reclaims)} training{'s' if len(reclaims) != 1 else ''}"
    return PlanDraft(title=title, steps=tuple(steps), notes=(*notes, *left))


async def look_for_idle_now(context: CommandContext, after: timedelta) -> IdleLook:
    shortest = min(SHORTEST, context.defaults.idle_after)  # a site may itself wish for less
    if not shortest <= after <= MAX_LOOK:
        raise UnusableError(f"`--after` is {in_words(shortest)} to {in_words(MAX_LOOK)}.")
    return await look_for_idle(
        context.cluster.prometheus, context.cluster.inventory(), now=context.now, after=after
    )


def _meant(
    names: tuple[str, ...], found: tuple[TrainingGpus, ...], context: CommandContext
) -> list[TrainingGpus]:
    """Those named, which must do nothing; or all that do."""
    if not names:
        return [one for one in found if one.training is not None and one.activity is Activity.IDLE]
    meant: list[TrainingGpus] = []
    for training in {
        training.id: training
        for name in names
        for training in [training_named(name, context.cluster.trainings())]
    }.values():
        mine = next(
            (one for one in found if one.training is not None and one.training.id == training.id), None
        )
        if mine is None:
            raise UnusableError(f"{training.id} holds no GPUs ({training.state.value}).")
        if mine.activity is not Activity.IDLE:
            raise UnusableError(f"{training.id} is not idle: {_doing_words(mine)}.")
        meant.append(mine)
    return meant


def _given(meant: list[TrainingGpus], context: CommandContext) -> tuple[list[TrainingGpus], list[str]]:
    """Those in namespaces where the actor may free GPUs; and, if others are left out, a line that says so.

    A claim that nobody answers suspends its training, so it is judged where that training is.
    """
    given: list[TrainingGpus] = []
    others: list[str] = []
    for one in meant:
        assert one.training is not None
        if context.refusal(NAME, one.training.namespace) is None:
            given.append(one)
        else:
            others.append(one.training.id)
    more = f" and {len(others) - NAMED} more" if len(others) > NAMED else ""
    return given, [f"{', '.join(others[:NAMED])}{more}: `{NAME}` is not given to you there"] if others else []


def _doing_words(of: TrainingGpus) -> str:
    match of.activity:
        case Activity.BUSY:
            idle = f", though {of.idle:g} of them did nothing" if of.idle else ""
            return f"some of its {of.count:g} GPUs work{idle}"
        case Activity.YOUNG:
            return "it has not run for long enough to tell"
        case Activity.UNKNOWN:
            return f"what it does is not known: {of.reason}"
        case Activity.IDLE:
            return "it does nothing"


def _why_not(earlier: list[ReclaimRequest], now: datetime, *, is_named: bool) -> str:
    """Why no claim is made on a training with these earlier ones; empty when one may be."""
    if one := next((one for one in earlier if one.state in OPEN and now < one.grace_until + LATE), None):
        return f"its owner is asked already (claim {one.id}, until {one.grace_until:%H:%M} UTC)"
    kept = [reclaim for reclaim in earlier if reclaim.state is ReclaimState.KEPT and reclaim.answered_at]
    if not is_named and kept and (at := kept[-1].answered_at) and now - at < KEEP_FOR:
        return f"its owner needs them, as said {in_words(now - at, parts=1)} ago"
    return ""


def _query(reclaim: ReclaimRequest) -> Record:
    """Undone it stays as a claim that is void: its card says so, and the next claim gets another name and card."""
    void = replace(reclaim, state=ReclaimState.VOID, keep_reason="the question was taken back")
    return record(
        "reclaim_requests", reclaim, says=f"ask for {reclaim.gpus:g} GPUs of {reclaim.training}", before=void
    )


def _dropped(reclaim: ReclaimRequest) -> Record:
    """The end of a claim that should have been settled long ago: another one takes its place."""
    void = replace(reclaim, state=ReclaimState.VOID, keep_reason="its owner is asked anew")
    return record(
        "reclaim_requests", void, says=f"drop claim {reclaim.id}, which could not be settled", before=reclaim
    )


async def _reclaims_of(training: Training, context: CommandContext) -> list[ReclaimRequest]:
    async with context.store.unit() as unit:
        return list(await unit.reclaim_requests.find(cluster=context.cluster.name, training=training.id))


async def _reclaim(
    of: TrainingGpus, look: IdleLook, context: CommandContext, *, grace: timedelta, earlier: int
) -> ReclaimRequest:
    assert of.training is not None
    async with context.store.unit() as unit:
        launch = await unit.launches.get(f"{context.cluster.name}/{of.training.id}")
    owner_id = context.defaults.owners.get(of.training.owner) or (launch.by if launch else "")
    return ReclaimRequest(
        id=request_id(context.cluster.name, of.training.id, earlier),
        cluster=context.cluster.name,
        training=of.training.id,
        owner=of.training.owner,
        owner_id=owner_id,
        gpus=of.count,
        asked_by=context.actor.id,
        asked_by_name=context.actor.name,
        asked_at=context.now,
        grace_until=context.now + grace,
        evidence=evidence(of, look),
        channel=context.origin.channel,
    )


def _who_is_asked(reclaim: ReclaimRequest, grace: timedelta) -> str:
    owner = reclaim.owner or "nobody known"
    unknown = "" if reclaim.owner_id else " (not known in the chat: the question stands in the channel)"
    return (
        f"{owner}{unknown} is asked about {reclaim.training}: {reclaim.evidence}. "
        f"Without an answer it is {taken(reclaim)} after {in_words(grace)}, if it still does nothing."
    )
