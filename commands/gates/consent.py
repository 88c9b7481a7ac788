"""The gate of the owners: what their answers, or their silence, mean for the plan that waits for them. Pure."""

from collections.abc import Iterable, Sequence
from datetime import datetime

from collectors.facts.sentences import Sentence, listed, sentence
from commands.execution.disruption import Disruption
from commands.execution.plan_gate import LETS_GO, GateVerdict
from commands.gates.training_answers import about
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
    may_be_divided: bool = False,
) -> GateVerdict:
    """Return whether the owners let a plan go on. `asked`: what it ends of theirs; one without a request never ends.

    What one owner needs ends the plan, unless it `may_be_divided` and others have not refused: their part may go on.
    """
    by_training = {training: one for one in requests for training in one.trainings}
    found: list[GateVerdict] = []
    seen: set[str] = set()
    for disrupted in asked:
        whole = by_training.get(disrupted.name)
        if whole is None:
            reason = sentence("the owner of {training} was not asked", training=disrupted.label)
            return GateVerdict(reason=reason, is_final=True)
        if whole.id in seen and not whole.answers:
            continue  # one answer is about all of an owner's
        seen.add(whole.id)
        request = about(whole, disrupted.name) if whole.answers else whole
        found.append(_verdict_of(request, now, silence_agrees=silence_agrees))
    holding = [one for one in found if one.holds]
    if not holding:
        return LETS_GO
    final = [one for one in holding if one.is_final]
    if final and (not may_be_divided or len(final) == len(found)):
        return final[0]
    ends = [one.until for one in holding]
    known = [one for one in ends if one is not None]
    return GateVerdict(
        reason=listed((one.reason for one in holding), ";"),
        until=max(known) if known and len(known) == len(ends) else None,
    )


def _verdict_of(request: ReclaimRequest, now: datetime, *, silence_agrees: bool) -> GateVerdict:
    """Return what one answer, or none yet, means."""
    until = request.grace_until
    match request.state:
        case ReclaimState.KEPT:
            return GateVerdict(reason=_kept(request), is_final=True)
        case ReclaimState.ASKED if now >= until:
            return LETS_GO if silence_agrees else GateVerdict(reason=_silent(request), is_final=True)
        case ReclaimState.ASKED:
            reason = sentence(
                "{owner} may answer about {training} until {at}",
                owner=_owner(request),
                training=request.shown,
                at=until,
            )
            return GateVerdict(reason=reason, until=until)
        case ReclaimState.SNOOZED if now < until:
            reason = sentence(
                "{owner} needs {training} until {at}",
                owner=_owner(request),
                training=request.shown,
                at=until,
            )
            return GateVerdict(reason=reason, until=until)
        case ReclaimState.AFTER_CHECKPOINT:
            reason = sentence(
                "{owner} wants the next checkpoint of {training} first: none since {at}",
                owner=_owner(request),
                training=request.shown,
                at=request.answered_at or request.asked_at,
            )
            return GateVerdict(reason=reason)
        case _:
            return LETS_GO


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
