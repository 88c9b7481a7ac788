"""Answers of an owner about single trainings of a request that is about several. Pure."""

from dataclasses import replace

from commands.models import ReclaimRequest, ReclaimState, TrainingAnswer

# States of a request, those first in which somebody still waits for something.
_LEAST_SETTLED = (
    ReclaimState.ASKED,
    ReclaimState.AFTER_CHECKPOINT,
    ReclaimState.SNOOZED,
    ReclaimState.KEPT,
    ReclaimState.AGREED,
    ReclaimState.FREED,
    ReclaimState.VOID,
)


def training_labels(request: ReclaimRequest) -> dict[str, str]:
    """Return each training of the request, as people read it, by its key."""
    if not request.also:
        return {request.training: request.shown}
    labels = dict(zip(request.trainings, request.labels, strict=False))
    return {training: labels.get(training, training) for training in request.trainings}


def about(request: ReclaimRequest, training: str) -> ReclaimRequest:
    """Return the request as it stands for one of its trainings."""
    if not request.also:
        return request
    label = training_labels(request)[training]
    one = replace(request, training=training, also=(), name=label, labels=(label,), answers=())
    answer = next((given for given in request.answers if given.training == training), None)
    if answer is None:
        return (
            replace(one, state=ReclaimState.ASKED, answered_by="", answered_at=None)
            if request.answers
            else one
        )
    return replace(
        one,
        state=answer.state,
        answered_by=answer.by,
        answered_at=answer.at,
        grace_until=answer.until or request.grace_until,
        keep_reason=answer.reason,
    )


def with_answer(request: ReclaimRequest, one: ReclaimRequest) -> ReclaimRequest:
    """Return the request once `one`, which `about` returned, has become this. It stands as what is settled least."""
    if not request.also:
        return one
    answer = TrainingAnswer(
        training=one.training,
        state=one.state,
        by=one.answered_by,
        at=one.answered_at,
        until=one.grace_until if one.grace_until != request.grace_until else None,
        reason=one.keep_reason,
    )
    before = request.answers or tuple(_as_answer(request, key) for key in _answered_at_once(request))
    others = (given for given in before if given.training != one.training)
    found = replace(
        request, answers=(*others, answer), answered_by=one.answered_by, answered_at=one.answered_at
    )
    states = {
        next((given.state for given in found.answers if given.training == training), ReclaimState.ASKED)
        for training in request.trainings
    }
    return replace(found, state=next(state for state in _LEAST_SETTLED if state in states))


def _answered_at_once(request: ReclaimRequest) -> tuple[str, ...]:
    """Return the trainings of a request that was answered as a whole; none of one that was not."""
    return () if request.state is ReclaimState.ASKED else request.trainings


def _as_answer(request: ReclaimRequest, training: str) -> TrainingAnswer:
    return TrainingAnswer(
        training=training,
        state=request.state,
        by=request.answered_by,
        at=request.answered_at,
        until=request.grace_until,
        reason=request.keep_reason,
    )
