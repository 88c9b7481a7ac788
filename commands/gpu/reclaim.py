"""Reclaim requests to the owners of idle trainings: `gpu free`."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from collectors.facts.clock import humanize
from collectors.facts.sentences import counted, headline_of, listed, sentence
from collectors.gpu_activity import SHORTEST, IdleSearch
from collectors.trainings.training import Training
from commands.core.command import DeniedError, PlanDraft, UnusableError
from commands.core.context import CommandContext
from commands.core.idle_detection import find_idle
from commands.execution.disruption import Disruption
from commands.execution.object_state import ObjectState
from commands.execution.plan import in_order
from commands.execution.steps import Record, Step
from commands.gpu.idle_trainings import TrainingGpus, by_training, evidence, ways_to_free
from commands.gpu.owner_release import UNDONE, answer_steps
from commands.gpu.reclaim_requests import (
    AUTOMATION,
    KEEP_FOR,
    NOT_AUTOMATIC,
    SETTLE,
    request_id,
    request_step,
    settlement_id,
    settlement_step,
)
from commands.gpu.reclaimable import idle_ones, permitted
from commands.models import OPEN_REQUEST, DueCommand, Launch, ReclaimRequest, ReclaimState
from commands.training.workload_steps import suspend_steps, suspension_refusal

MAX_WINDOW = timedelta(hours=24)
LONGEST_WAIT = timedelta(days=3)
LATE = timedelta(hours=1)  # a request still open this long after its end does not block another
MAX_REQUESTS = 50  # per command


@dataclass(frozen=True, slots=True, kw_only=True)
class FreeGpus:
    trainings: tuple[str, ...]
    after: timedelta | None
    grace: timedelta | None


async def free(action: FreeGpus, context: CommandContext) -> PlanDraft:
    """Plan to free trainings whose GPUs are all idle: the actor's own at once, and by requests to the other owners.

    Without an answer those are suspended after the grace.
    """
    grace = action.grace if action.grace is not None else context.defaults.reclaim_grace
    if action.grace is not None and not SHORTEST <= grace <= LONGEST_WAIT:  # the settings may exceed this
        raise UnusableError(
            sentence(
                "`--grace` must be {shortest} to {longest}.",
                shortest=SHORTEST,
                longest=LONGEST_WAIT,
            )
        )
    look = await find_idle_now(
        context, action.after if action.after is not None else context.defaults.idle_after
    )
    if look.blind:
        raise UnusableError(sentence("Whether any GPU is idle is not known: {reason}", reason=look.blind))
    found = by_training(look, context.cluster.trainings(), context.cluster.topology())
    steps: list[Step] = []
    notes: list[str] = []
    reclaims: list[ReclaimRequest] = []
    own: list[Disruption] = []
    selected, skipped = permitted(idle_ones(action.trainings, found, context), context)
    is_denied = bool(skipped)
    more = 0
    for one in selected:
        assert one.training is not None
        earlier = await _reclaims_of(one.training, context)
        inventory = context.cluster.inventory()
        if context.actor.is_one(owner_id := await _owner_id(one.training, context)):
            if refusal := suspension_refusal(one.training, inventory):
                skipped.append(headline_of(refusal))
                continue
            steps += await _own_steps(one.training, earlier, context)
            notes.append(_own_note(one, look))
            own.append(_disruption(one))
            continue
        reason = _refusal(earlier, context.now, is_named=bool(action.trainings))
        if reason:
            skipped.append(listed((one.training.shown, reason), ":"))
            continue
        if len(reclaims) == MAX_REQUESTS:
            more += 1
            continue
        if refusal := suspension_refusal(one.training, inventory):
            skipped.append(headline_of(refusal))
            continue
        suspension = suspend_steps(one.training, inventory)
        steps += [_dropped(old) for old in earlier if old.state in OPEN_REQUEST]
        made = _reclaim(one, look, context, grace=grace, earlier=len(earlier), owner_id=owner_id)
        is_automatic = context.may_automate(AUTOMATION, SETTLE, one.training.namespace)
        reclaim = replace(made, is_automatic=is_automatic)
        reclaims.append(reclaim)
        notes.append(_owner_note(reclaim, grace))
        steps.append(_request_step(reclaim, suspension))
        if is_automatic:
            steps.append(settlement_step(reclaim))
    if more:
        skipped.append(
            counted(
                "{count} more training: {most} per command at most; run it again for it",
                "{count} more trainings: {most} per command at most; run it again for them",
                count=more,
                most=MAX_REQUESTS,
            )
        )
    if not action.trainings:
        skipped += ways_to_free([one for one in found if one.idle])
    if not steps:
        reason = listed(skipped, ";") or sentence("no training was idle for {after}", after=look.after)
        nothing = sentence("There is nothing to request: {reason}.", reason=reason)
        if is_denied:
            raise DeniedError(nothing)
        return PlanDraft.nothing(nothing)
    return PlanDraft(
        title=_title(own, reclaims),
        stages=in_order(*steps),
        disrupts=tuple(own),
        may_end=tuple(
            Disruption(name=one.training, shown=one.shown, owner=one.owner, gpus=one.gpus) for one in reclaims
        ),
        notes=(*notes, *skipped),
        relieves=("GPUIdle",) if own else (),  # a request frees nothing yet
    )


def _title(own: Sequence[Disruption], reclaims: Sequence[ReclaimRequest]) -> str:
    freed, asked = sum(one.gpus for one in own), sum(one.gpus for one in reclaims)
    mine = counted(
        "Free {count:g} idle GPU of {training}",
        "Free {count:g} idle GPUs of {training}",
        count=freed,
        training=listed([one.shown for one in own], "and", most=3),
    )
    theirs = counted(
        "Request {count:g} idle GPU from {training}",
        "Request {count:g} idle GPUs from {training}",
        count=asked,
        training=listed([one.shown for one in reclaims], "and", most=3),
    )
    return listed([title for title, found in ((mine, own), (theirs, reclaims)) if found], ";")


async def _own_steps(
    training: Training, earlier: Sequence[ReclaimRequest], context: CommandContext
) -> tuple[Step, ...]:
    """Return the steps that suspend a training of the actor. They answer an open request of somebody else, too."""
    steps: list[Step] = [*suspend_steps(training, context.cluster.inventory())]
    for reclaim in earlier:
        if reclaim.state in OPEN_REQUEST:
            async with context.store.read() as snapshot:
                due = await snapshot.rows(DueCommand).get(settlement_id(reclaim))
            steps += answer_steps(reclaim, due, tuple(steps), context)
    return tuple(steps)


def _own_note(one: TrainingGpus, look: IdleSearch) -> str:
    yours = sentence(
        "{training} is yours ({evidence}): it is suspended at once, and nobody is asked.",
        training=one.name,
        evidence=evidence(one, look),
    )
    return listed((yours, UNDONE), ".")


def _disruption(one: TrainingGpus) -> Disruption:
    return Disruption(name=one.id, shown=one.name, owner=one.owner, gpus=one.count)


async def find_idle_now(context: CommandContext, after: timedelta) -> IdleSearch:
    shortest = min(SHORTEST, context.defaults.idle_after)  # the settings may allow less
    if not shortest <= after <= MAX_WINDOW:
        raise UnusableError(
            sentence("`--after` must be {shortest} to {longest}.", shortest=shortest, longest=MAX_WINDOW)
        )
    return await find_idle(context.cluster, now=context.now, after=after)


def _refusal(earlier: list[ReclaimRequest], now: datetime, *, is_named: bool) -> str:
    """Return why a training with these earlier requests gets no new one; empty if it does."""
    if one := next(
        (one for one in earlier if one.state in OPEN_REQUEST and now < one.grace_until + LATE), None
    ):
        return sentence(
            "its owner already has request {request} (until {at})", request=one.id, at=one.grace_until
        )
    kept = [reclaim for reclaim in earlier if reclaim.state is ReclaimState.KEPT and reclaim.answered_at]
    if not is_named and kept and (at := kept[-1].answered_at) and now - at < KEEP_FOR:
        return sentence("its owner answered {age} ago that they are needed", age=humanize(now - at, parts=1))
    return ""


def _request_step(reclaim: ReclaimRequest, suspension: Sequence[Step]) -> Record:
    """Nothing is asked about a training that is gone.

    The undo keeps the request as void, so that its card shows it and the next one gets another id and card.
    """
    void = replace(reclaim, state=ReclaimState.VOID, keep_reason=sentence("the request was withdrawn"))
    return request_step(
        reclaim,
        text=counted(
            "request {count:g} GPU of {training}",
            "request {count:g} GPUs of {training}",
            count=reclaim.gpus,
            training=reclaim.shown,
        ),
        before=void,
        undo_text=sentence("withdraw the request for {training}", training=reclaim.shown),
        scope=(reclaim.training.partition("/")[0],),  # no answer suspends it
        about=(ObjectState(ref=step.ref) for step in suspension if not isinstance(step, Record)),
    )


def _dropped(reclaim: ReclaimRequest) -> Record:
    """Close a request that should have been settled long ago: a new one replaces it."""
    void = replace(reclaim, state=ReclaimState.VOID, keep_reason=sentence("replaced by a new request"))
    return request_step(
        void,
        text=sentence("drop request {request}, which was not settled", request=reclaim.id),
        before=reclaim,
    )


async def _reclaims_of(training: Training, context: CommandContext) -> list[ReclaimRequest]:
    async with context.store.read() as snapshot:
        return list(
            await snapshot.rows(ReclaimRequest).find(
                cluster=context.cluster.name, training=training.id, for_plan=""
            )
        )


async def _owner_id(training: Training, context: CommandContext) -> str:
    """Return who owns it in the chat; empty if nobody is known."""
    async with context.store.read() as snapshot:
        launch = await snapshot.rows(Launch).get(f"{context.cluster.name}/{training.id}")
    return context.defaults.owners.get(training.owner) or (launch.by if launch else "")


def _reclaim(
    of: TrainingGpus,
    look: IdleSearch,
    context: CommandContext,
    *,
    grace: timedelta,
    earlier: int,
    owner_id: str,
) -> ReclaimRequest:
    assert of.training is not None
    return ReclaimRequest(
        id=request_id(context.cluster.name, of.training.id, earlier),
        cluster=context.cluster.name,
        training=of.training.id,
        name=of.training.shown,
        owner=of.training.owner,
        owner_id=owner_id,
        gpus=of.count,
        asked_by=context.actor.person,
        asked_by_name=context.actor.name,
        asked_at=context.now,
        grace_until=context.now + grace,
        evidence=evidence(of, look),
        channel=context.origin.channel,
    )


def _owner_note(reclaim: ReclaimRequest, grace: timedelta) -> str:
    owner = reclaim.owner or sentence("an unknown owner")
    if not reclaim.owner_id:
        owner = sentence("{owner} (not known in the chat, so the request goes to the channel)", owner=owner)
    request = sentence(
        "{owner} gets a request for {training}: {evidence}.",
        owner=owner,
        training=reclaim.shown,
        evidence=reclaim.evidence,
    )
    if not reclaim.is_automatic:
        return listed((request, NOT_AUTOMATIC), ".")
    end = sentence("Without an answer it is suspended after {grace} if it is still idle.", grace=grace)
    return listed((request, end), ".")
