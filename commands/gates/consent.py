"""The gate of the owners: what their answers, or their silence, mean for the plan that waits for them. Pure."""

from collections.abc import Iterable, Sequence
from datetime import datetime

from collectors.facts.sentences import Sentence, listed, sentence
from commands.execution.disruption import Disruption
from commands.execution.plan_gate import LETS_GO, GateVerdict
from commands.models import ReclaimRequest, ReclaimState

LETS_END = frozenset(
    {ReclaimState.AGREED, ReclaimState.FREED, ReclaimState.VOID}
)  # nothing is kept from ending


def consent_verdict(
    asked: Iterable[Disruption],
    requests: Sequence[ReclaimRequest],
    now: datetime,
    *,
    silence_agrees: bool,
) -> GateVerdict:
    """Return whether the owners let a plan go on. `asked`: what it ends of theirs; one without a request never ends."""
    by_training = {training: one for one in requests for training in one.trainings}
    waits: list[Sentence] = []
    ends: list[datetime | None] = []
    seen: set[str] = set()
    for disrupted in asked:
        request = by_training.get(disrupted.name)
        if request is not None and request.id in seen:
            continue  # one answer is about all of an owner's
        if request is None:
            reason = sentence("the owner of {training} was not asked", training=disrupted.label)
            return GateVerdict(reason=reason, is_final=True)
        seen.add(request.id)
        match request.state:
            case ReclaimState.KEPT:
                return GateVerdict(reason=_kept(request), is_final=True)
            case ReclaimState.ASKED if now >= request.grace_until:
                if not silence_agrees:
                    return GateVerdict(reason=_silent(request), is_final=True)
            case ReclaimState.ASKED:
                waits.append(
                    sentence(
                        "{owner} may answer about {training} until {at}",
                        owner=_owner(request),
                        training=request.shown,
                        at=request.grace_until,
                    )
                )
                ends.append(request.grace_until)
            case ReclaimState.SNOOZED if now < request.grace_until:
                waits.append(
                    sentence(
                        "{owner} needs {training} until {at}",
                        owner=_owner(request),
                        training=request.shown,
                        at=request.grace_until,
                    )
                )
                ends.append(request.grace_until)
            case ReclaimState.AFTER_CHECKPOINT:
                waits.append(
                    sentence(
                        "{owner} wants the next checkpoint of {training} first",
                        owner=_owner(request),
                        training=request.shown,
                    )
                )
                ends.append(None)
            case _:
                pass
    if not waits:
        return LETS_GO
    known = [one for one in ends if one is not None]
    return GateVerdict(
        reason=listed(waits, ";"), until=max(known) if known and len(known) == len(ends) else None
    )


def announced(asked: Iterable[Disruption]) -> Sentence:
    """Return what a preview says of the owners who will be asked."""
    named = (
        sentence("{owner} ({training})", owner=one.owner or one.label, training=one.label) for one in asked
    )
    return sentence("it asks the owners first: {owners}", owners=listed(named, "and", most=8))


def _owner(request: ReclaimRequest) -> str:
    return request.owner or sentence("its owner")


def _kept(request: ReclaimRequest) -> Sentence:
    if request.keep_reason:
        return sentence(
            "{owner} needs {training}: {reason}",
            owner=_owner(request),
            training=request.shown,
            reason=request.keep_reason,
        )
    return sentence("{owner} needs {training}", owner=_owner(request), training=request.shown)


def _silent(request: ReclaimRequest) -> Sentence:
    return sentence(
        "{owner} did not answer about {training} by {at}",
        owner=_owner(request),
        training=request.shown,
        at=request.grace_until,
    )
