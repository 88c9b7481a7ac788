"""Answers to reclaim requests: `gpu keep|snooze|release`."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from datetime import timedelta

from alerts.store import Unit
from collectors.facts.sentences import counted, listed, sentence, word
from collectors.gpu_activity import SHORTEST
from commands.core.command import Answer, DeniedError, PlanDraft, UnusableError
from commands.core.context import CommandContext
from commands.execution.disruption import Disruption
from commands.execution.object_state import ObjectState
from commands.execution.plan import in_order
from commands.execution.steps import Record
from commands.gates.training_answers import about, training_labels, with_answer
from commands.gpu.consents import is_awaited
from commands.gpu.freeing_plan import freeing_plan
from commands.gpu.owner_release import UNDONE, answer_steps, answered
from commands.gpu.reclaim import LONGEST_WAIT
from commands.gpu.reclaim_card import reclaim_card
from commands.gpu.reclaim_requests import is_owner, request_step, settlement_id, settlement_of
from commands.gpu.unanswered import named_request, running_plans, training_of
from commands.models import OPEN_REQUEST, DueCommand, ReclaimRequest, ReclaimState
from commands.training.workload_steps import suspend_steps


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerReclaim:
    request: str
    reason: str = ""
    training: str = ""  # one of those that the request is about; all of them if empty
    after_checkpoint: bool = False
    lasting: timedelta = timedelta(hours=2)


@dataclass(frozen=True, slots=True, kw_only=True)
class ShowRequest:
    request: str


async def show_request(action: ShowRequest, context: CommandContext) -> Answer:
    """Return the request as its card shows it."""
    async with context.store.read() as snapshot:
        reclaim = await named_request(action.request, snapshot)
        plan = await freeing_plan(reclaim, snapshot) if reclaim.state is ReclaimState.FREED else None
    return Answer(message=reclaim_card(reclaim, context.now, plan=plan.id if plan else ""))


async def keep(action: AnswerReclaim, context: CommandContext) -> Answer:
    """Close the request: the owner needs the GPUs."""
    async with context.store.unit() as unit:
        reclaim = await _open(unit, action.request)
        _check_answerer(reclaim, context, harmless=True)
        kept = _with(
            reclaim,
            action,
            context,
            lambda one: replace(one, state=ReclaimState.KEPT, keep_reason=action.reason),
        )
        await unit.rows(ReclaimRequest).put(kept)
        await unit.rows(DueCommand).delete(settlement_id(kept))
    return Answer(message=reclaim_card(kept, context.now))


async def snooze(action: AnswerReclaim, context: CommandContext) -> Answer:
    """Postpone the settlement of the request."""
    if not SHORTEST <= action.lasting <= LONGEST_WAIT:
        raise UnusableError(
            sentence("`--for` must be {shortest} to {longest}.", shortest=SHORTEST, longest=LONGEST_WAIT)
        )
    async with context.store.unit() as unit:
        reclaim = await _open(unit, action.request)
        _check_answerer(reclaim, context, harmless=True)
        snoozed = _with(
            reclaim,
            action,
            context,
            lambda one: replace(
                one,
                state=ReclaimState.SNOOZED,
                keep_reason=action.reason,
                grace_until=context.now + action.lasting,
            ),
        )
        await unit.rows(ReclaimRequest).put(snoozed)
        if snoozed.is_automatic:
            await unit.rows(DueCommand).put(settlement_of(snoozed))
    return Answer(message=reclaim_card(snoozed, context.now))


async def agree(action: AnswerReclaim, context: CommandContext) -> Answer:
    """Let the plan that waits end the training, now or after the next checkpoint. Only the owner agrees."""
    async with context.store.unit() as unit:
        request = await _open(unit, action.request)
        if not request.for_plan:
            raise UnusableError(
                sentence(
                    "No plan waits for it: `gpu release {request}` gives the GPUs back.", request=request.id
                )
            )
        if not is_owner(request, context.actor, by_name=False):
            raise DeniedError(
                sentence(
                    "Only {owner} can agree to that; a second person can take plan `{plan}` over its gates.",
                    owner=request.owner or sentence("its owner"),
                    plan=request.for_plan,
                ),
                plan=request.for_plan,
            )
        state = ReclaimState.AFTER_CHECKPOINT if action.after_checkpoint else ReclaimState.AGREED
        agreed = _with(request, action, context, lambda one: replace(one, state=state))
        await unit.rows(ReclaimRequest).put(agreed)
    return Answer(message=reclaim_card(agreed, context.now))


async def release(action: AnswerReclaim, context: CommandContext) -> PlanDraft:
    """Plan to suspend the training now: the owner gives the GPUs back."""
    async with context.store.unit() as unit:
        reclaim = await _open(unit, action.request)
        due = await unit.rows(DueCommand).get(settlement_id(reclaim))
    if reclaim.for_plan:
        raise UnusableError(
            sentence(
                "Plan `{plan}` waits for this answer: `gpu agree {request}` lets it go on.",
                plan=reclaim.for_plan,
                request=reclaim.id,
            )
        )
    _check_answerer(reclaim, context, harmless=False)
    training = training_of(reclaim, context)
    steps = suspend_steps(training, context.cluster.inventory()) if training else ()
    if training is None or not steps:
        return PlanDraft.nothing(sentence("{training} no longer holds GPUs.", training=reclaim.shown))
    records = answer_steps(reclaim, due, steps, context)
    return PlanDraft(
        title=counted(
            "Free {count:g} GPU of {training}",
            "Free {count:g} GPUs of {training}",
            count=reclaim.gpus,
            training=reclaim.shown,
        ),
        stages=in_order(*steps, *records),
        disrupts=(
            Disruption(name=reclaim.training, shown=reclaim.shown, owner=reclaim.owner, gpus=reclaim.gpus),
        ),
        notes=(UNDONE,),
    )


def keep_again(
    freed: ReclaimRequest, plan: str, context: CommandContext, *, about: Iterable[ObjectState]
) -> Record:
    """Return the step that records the answer of a person who undoes a plan that freed the GPUs: they are needed.

    It is not a new question: the request does not open again.
    """
    reason = sentence("plan {plan}, which freed them, was undone", plan=plan)
    kept = replace(answered(freed, context), state=ReclaimState.KEPT, keep_reason=reason)
    who = context.actor.name
    said = sentence("record that {who} needs the GPUs", who=who)
    return request_step(kept, text=said, before=freed, about=about)


def _with(
    request: ReclaimRequest,
    action: AnswerReclaim,
    context: CommandContext,
    change: Callable[[ReclaimRequest], ReclaimRequest],
) -> ReclaimRequest:
    """Return the request with the answer: about all of it, or about the one training that is named."""
    if not action.training:
        return change(answered(replace(request, answers=()), context))
    one = about(request, _training_named(request, action.training))
    return with_answer(request, change(answered(one, context)))


def _training_named(request: ReclaimRequest, named: str) -> str:
    """Return the key of a training of the request, by its name. Raises UnusableError if it is about no such one."""
    labels = training_labels(request)
    found = [key for key, label in labels.items() if named in (key, label, label.rpartition("/")[2])]
    if len(found) != 1:
        raise UnusableError(
            sentence(
                "Request `{request}` is about {trainings}: name one of them.",
                request=request.id,
                trainings=listed(labels.values(), "and"),
            )
        )
    return found[0]


async def _open(unit: Unit, named: str) -> ReclaimRequest:
    """Return the request if it can still be answered: not if it is closed or a plan is settling it."""
    reclaim = await named_request(named, unit)
    if reclaim.state not in OPEN_REQUEST:
        raise UnusableError(
            sentence(
                "Request `{request}` for {training} is now {state}.",
                request=reclaim.id,
                training=reclaim.shown,
                state=word(reclaim.state.value),
            )
        )
    if reclaim.for_plan:
        if not await is_awaited(reclaim, unit):
            raise UnusableError(
                sentence("Plan `{plan}` no longer waits for an answer.", plan=reclaim.for_plan)
            )
        return reclaim
    if plan := (await running_plans(unit)).get(reclaim.id):
        raise UnusableError(
            sentence(
                "Request `{request}` for {training} is being settled by plan `{plan}`: `plan cancel "
                "{plan}` stops it, and `plan undo {plan}` reverts it afterwards.",
                request=reclaim.id,
                training=reclaim.shown,
                plan=plan,
            )
        )
    return reclaim


def _check_answerer(reclaim: ReclaimRequest, context: CommandContext, *, harmless: bool) -> None:
    needed = "gpu free" if harmless else "training stop"
    namespaces = sorted({training.partition("/")[0] for training in reclaim.trainings})
    if is_owner(reclaim, context.actor, by_name=harmless) or context.refusal(needed, *namespaces) is None:
        return
    owner = reclaim.owner or sentence("its owner")
    raise UnusableError(
        sentence(
            "Only {owner}, or someone who may run `{command}` there, can answer request `{request}`.",
            owner=owner,
            command=needed,
            request=reclaim.id,
        )
    )
