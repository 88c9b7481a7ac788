"""This file asks owners for idle GPUs and does what they answer: `gpu free|keep|snooze|release|settle`."""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from collectors.facts.durations import in_words
from collectors.trainings.views import TrainingView
from commands.claims import (
    KEPT_FOR,
    OPEN,
    claim_id,
    claim_view,
    due_id,
    due_of,
    is_owner,
)
from commands.command import Answer, Draft, UnusableError
from commands.desk import Desk
from commands.gpus.idle import TrainingGpus, by_training, evidence
from commands.gpus.idling import SHORTEST, Doing, IdleLook, look_for_idle
from commands.records import forget, record
from commands.rows import Claim, ClaimState
from commands.steps import Step
from commands.trainings.catalogue import kind_of
from commands.trainings.naming import training_named

LOOK_AGAIN = timedelta(minutes=10)  # when it cannot be known whether it still does nothing
LONGEST_LOOK = timedelta(hours=24)
LONGEST_WAIT = timedelta(days=3)
AT_MOST = 50  # claims of one line


@dataclass(frozen=True, slots=True, kw_only=True)
class Freeing:
    trainings: tuple[str, ...]
    after: timedelta | None
    grace: timedelta | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Answering:
    claim: str
    reason: str = ""
    lasting: timedelta = timedelta(hours=2)


async def free(deed: Freeing, desk: Desk) -> Draft:
    """Claims on trainings of which every GPU did nothing; their owners are asked, and after the grace they pause."""
    grace = deed.grace if deed.grace is not None else desk.policy.claim_grace
    if not SHORTEST <= grace <= LONGEST_WAIT:
        raise UnusableError(f"`--grace` is {in_words(SHORTEST)} to {in_words(LONGEST_WAIT)}.")
    look = await look_now(desk, deed.after if deed.after is not None else desk.policy.idle_after)
    if look.blind:
        raise UnusableError(f"Whether any GPU does nothing is not known: {look.blind}")
    found = by_training(look, desk.site.trainings())
    steps: list[Step] = []
    notes: list[str] = []
    left: list[str] = []
    claims: list[Claim] = []
    for one in _meant(deed.trainings, found, desk):
        assert one.view is not None
        earlier = await _claims_on(one.view, desk)
        why = _why_not(earlier, desk.now, is_named=bool(deed.trainings))
        if why:
            left.append(f"{one.view.id}: {why}")
            continue
        kind_of(one.view)
        claim = await _claim(one, look, desk, grace=grace, earlier=len(earlier))
        claims.append(claim)
        notes.append(_who_is_asked(claim, grace))
        steps.append(record("claims", claim, says=f"ask for {claim.gpus:g} GPUs of {claim.training}"))
        steps.append(record("agenda", due_of(claim), says=f"settle it at {claim.grace_until:%H:%M} UTC"))
    if not steps:
        nothing = "; ".join(left) or f"no training's GPUs did nothing for {in_words(look.after)}"
        return Draft(title="", nothing=f"Nobody is to be asked: {nothing}.")
    gpus = sum(claim.gpus for claim in claims)
    title = f"Ask for {gpus:g} idle GPUs of {len(claims)} training{'s' if len(claims) != 1 else ''}"
    return Draft(title=title, steps=tuple(steps), notes=(*notes, *left))


async def keep(deed: Answering, desk: Desk) -> Answer:
    """The owner needs them: the claim is over."""
    async with desk.store.unit() as unit:
        claim = _open(await unit.claims.get(deed.claim), deed.claim)
        _check_answerer(claim, desk, harmless=True)
        kept = replace(_answered(claim, desk), standing=ClaimState.KEPT, keep_reason=deed.reason)
        await unit.claims.put(kept)
        await unit.agenda.delete(due_id(kept))
    return Answer(view=claim_view(kept, desk.now))


async def snooze(deed: Answering, desk: Desk) -> Answer:
    """More time: the claim is settled later."""
    if not SHORTEST <= deed.lasting <= LONGEST_WAIT:
        raise UnusableError(f"`--for` is {in_words(SHORTEST)} to {in_words(LONGEST_WAIT)}.")
    async with desk.store.unit() as unit:
        claim = _open(await unit.claims.get(deed.claim), deed.claim)
        _check_answerer(claim, desk, harmless=True)
        moved = replace(
            _answered(claim, desk),
            standing=ClaimState.SNOOZED,
            keep_reason=deed.reason,
            grace_until=desk.now + deed.lasting,
        )
        await unit.claims.put(moved)
        await unit.agenda.put(due_of(moved))
    return Answer(view=claim_view(moved, desk.now))


async def release(deed: Answering, desk: Desk) -> Draft:
    """The owner gives them back: the training pauses now."""
    async with desk.store.unit() as unit:
        claim = _open(await unit.claims.get(deed.claim), deed.claim)
        due = await unit.agenda.get(due_id(claim))
    _check_answerer(claim, desk, harmless=False)
    view = _training(claim, desk)
    steps = kind_of(view).pause(view, desk.site.inventory()) if view else ()
    if view is None or not steps:
        return Draft(title="", nothing=f"{claim.training} holds no GPUs any more.")
    freed = replace(_answered(claim, desk), standing=ClaimState.FREED)
    over = (
        record("claims", freed, says="note that they are free", before=claim),
        *((forget("agenda", due, says="nothing is left to settle"),) if due else ()),
    )
    return Draft(
        title=f"Free {claim.gpus:g} GPUs of {claim.training}",
        steps=(*steps, *over),
        victims=(claim.training,),
        notes=("What it did after its last checkpoint is lost; undoing this plan starts it anew.",),
    )


async def settle(deed: Answering, desk: Desk) -> Draft:
    """What becomes of a claim that nobody answered. Only what is seen to do nothing, still, is paused."""
    async with desk.store.unit() as unit:
        claim = await unit.claims.get(deed.claim)
    if claim is None:
        raise UnusableError(f"There is no claim `{deed.claim}`.")
    _check_cluster(claim, desk)
    if claim.standing not in OPEN:
        return Draft(title="", nothing=f"Claim {claim.id} is {claim.standing.value} already.")
    if desk.now < claim.grace_until:
        return Draft(title="", nothing=f"Claim {claim.id} has time until {claim.grace_until:%H:%M} UTC.")
    view = _training(claim, desk)
    if view is None:
        return _void(claim, "the training has ended")
    # Whoever worked since the question has answered it.
    look = await look_now(desk, min(max(desk.policy.idle_after, desk.now - claim.asked_at), LONGEST_LOOK))
    mine = next((one for one in by_training(look, desk.site.trainings()) if one.view == view), None)
    if look.blind or (mine is not None and mine.doing is Doing.UNKNOWN):
        return _later(claim, look.blind or (mine.why if mine else ""), desk)
    if mine is None:
        return _void(claim, "it holds no GPUs any more")
    if mine.doing is not Doing.IDLE:
        return _void(claim, "it works again" if mine.doing is Doing.BUSY else "it was started anew")
    steps = kind_of(view).pause(view, desk.site.inventory())
    if not steps:
        return _void(claim, "it is suspended already")
    freed = record(
        "claims", replace(claim, standing=ClaimState.FREED), says="note that they are free", before=claim
    )
    return Draft(
        title=f"Free {claim.gpus:g} idle GPUs of {claim.training}",
        steps=(*steps, freed),
        victims=(claim.training,),
        notes=(f"Nobody answered claim {claim.id} in time, and there is {evidence(mine, look)}.",),
    )


async def look_now(desk: Desk, after: timedelta) -> IdleLook:
    if not SHORTEST <= after <= LONGEST_LOOK:
        raise UnusableError(f"`--after` is {in_words(SHORTEST)} to {in_words(LONGEST_LOOK)}.")
    return await look_for_idle(desk.site.prometheus, desk.site.inventory(), now=desk.now, after=after)


def _meant(names: tuple[str, ...], found: tuple[TrainingGpus, ...], desk: Desk) -> list[TrainingGpus]:
    """Those named, which must do nothing; or all that do."""
    if not names:
        return [one for one in found if one.view is not None and one.doing is Doing.IDLE][:AT_MOST]
    meant: list[TrainingGpus] = []
    for view in {
        view.id: view for name in names for view in [training_named(name, desk.site.trainings())]
    }.values():
        mine = next((one for one in found if one.view is not None and one.view.id == view.id), None)
        if mine is None:
            raise UnusableError(f"{view.id} holds no GPUs ({view.life.value}).")
        if mine.doing is not Doing.IDLE:
            raise UnusableError(f"{view.id} is not idle: {_doing_words(mine)}.")
        meant.append(mine)
    return meant


def _doing_words(of: TrainingGpus) -> str:
    match of.doing:
        case Doing.BUSY:
            idle = f", though {of.idle:g} of them did nothing" if of.idle else ""
            return f"some of its {of.count:g} GPUs work{idle}"
        case Doing.YOUNG:
            return "it has not run for long enough to tell"
        case Doing.UNKNOWN:
            return f"what it does is not known: {of.why}"
        case Doing.IDLE:
            return "it does nothing"


def _why_not(earlier: list[Claim], now: datetime, *, is_named: bool) -> str:
    """Why no claim is made on a training with these earlier ones; empty when one may be."""
    if one := next((claim for claim in earlier if claim.standing in OPEN), None):
        return f"its owner is asked already (claim {one.id}, until {one.grace_until:%H:%M} UTC)"
    kept = [claim for claim in earlier if claim.standing is ClaimState.KEPT and claim.answered_at]
    if not is_named and kept and (at := kept[-1].answered_at) and now - at < KEPT_FOR:
        return f"its owner needs them, as said {in_words(now - at, parts=1)} ago"
    return ""


async def _claims_on(view: TrainingView, desk: Desk) -> list[Claim]:
    async with desk.store.unit() as unit:
        return list(await unit.claims.find(cluster=desk.site.name, training=view.id))


async def _claim(of: TrainingGpus, look: IdleLook, desk: Desk, *, grace: timedelta, earlier: int) -> Claim:
    assert of.view is not None
    async with desk.store.unit() as unit:
        launch = await unit.launches.get(f"{desk.site.name}/{of.view.id}")
    owner_id = desk.policy.owners.get(of.view.owner) or (launch.by if launch else "")
    return Claim(
        id=claim_id(desk.site.name, of.view.id, earlier),
        cluster=desk.site.name,
        training=of.view.id,
        owner=of.view.owner,
        owner_id=owner_id,
        gpus=of.count,
        asked_by=desk.actor.id,
        asked_by_name=desk.actor.name,
        asked_at=desk.now,
        grace_until=desk.now + grace,
        evidence=evidence(of, look),
        channel=desk.origin.channel,
    )


def _who_is_asked(claim: Claim, grace: timedelta) -> str:
    owner = claim.owner or "nobody known"
    unknown = "" if claim.owner_id else " (not known in the chat: the question stands in the channel)"
    return (
        f"{owner}{unknown} is asked about {claim.training}: {claim.evidence}. Without an answer it is suspended "
        f"after {in_words(grace)}, if it still does nothing."
    )


def _training(claim: Claim, desk: Desk) -> TrainingView | None:
    found = next((view for view in desk.site.trainings() if view.id == claim.training), None)
    return found if found is not None and not found.life.is_over else None


def _open(claim: Claim | None, named: str) -> Claim:
    if claim is None:
        raise UnusableError(f"There is no claim `{named[:40]}`: its card shows its name.")
    if claim.standing not in OPEN:
        raise UnusableError(f"Claim `{claim.id}` on {claim.training} is {claim.standing.value} already.")
    return claim


def _check_answerer(claim: Claim, desk: Desk, *, harmless: bool) -> None:
    _check_cluster(claim, desk)
    needed = "gpu free" if harmless else "training stop"
    namespace = claim.training.partition("/")[0]
    if is_owner(claim, desk.actor, by_name=harmless) or desk.refusal(needed, namespace) is None:
        return
    owner = claim.owner or "its owner"
    raise UnusableError(f"Claim `{claim.id}` is for {owner} to answer, or for whoever may `{needed}` there.")


def _check_cluster(claim: Claim, desk: Desk) -> None:
    if claim.cluster != desk.site.name:
        raise UnusableError(
            f"Claim `{claim.id}` is of cluster {claim.cluster}: add `--cluster {claim.cluster}`."
        )


def _answered(claim: Claim, desk: Desk) -> Claim:
    return replace(claim, answered_by=desk.actor.id, answered_at=desk.now)


def _void(claim: Claim, why: str) -> Draft:
    void = replace(claim, standing=ClaimState.VOID, keep_reason=why)
    step = record("claims", void, says=f"note that nothing is to be done: {why}", before=claim)
    return Draft(title=f"Drop the claim on {claim.training}", steps=(step,))


def _later(claim: Claim, why: str, desk: Desk) -> Draft:
    later = replace(claim, grace_until=desk.now + LOOK_AGAIN)
    steps = (
        record(
            "claims",
            later,
            says=f"wait {in_words(LOOK_AGAIN)} more, for it is not known: {why}",
            before=claim,
        ),
        record("agenda", due_of(later), says="settle it then"),
    )
    return Draft(title=f"Look at {claim.training} again later", steps=steps)
