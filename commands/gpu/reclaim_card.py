"""This file has what claims mean: whose they are, what they are called, and their card. Pure."""

from datetime import datetime, timedelta
from hashlib import blake2b

from alerts.cards.message import (
    Block,
    Button,
    Buttons,
    ButtonStyle,
    Color,
    Context,
    Message,
    Paragraph,
    Text,
    bold,
    code,
    moment,
    person,
    text,
)
from collectors.facts.clock import in_words
from commands.core.request import Actor
from commands.models import DueCommand, ReclaimRequest, ReclaimState

OPEN = frozenset({ReclaimState.ASKED, ReclaimState.SNOOZED})
KEEP_FOR = timedelta(hours=12)  # an owner who said that they need their GPUs is not asked again for so long
AUTOMATION = "reclaim"  # the actor that settles what nobody answered


def request_id(cluster: str, training: str, earlier: int) -> str:
    """The name of the next claim on a training that had so many before: the same each time that it is planned."""
    told = f"{cluster}\n{training}\n{earlier}".encode()
    return f"c{blake2b(told, digest_size=4).hexdigest()}"


def settlement_of(claim: ReclaimRequest) -> DueCommand:
    """When the claim is settled without an answer, and how. A later one of the same claim replaces it."""
    return DueCommand(
        id=settlement_id(claim),
        cluster=claim.cluster,
        at=claim.grace_until,
        line=f"gpu settle {claim.id} --cluster {claim.cluster}",
        actor=AUTOMATION,
    )


def settlement_id(claim: ReclaimRequest) -> str:
    return f"claim/{claim.id}"


def is_owner(claim: ReclaimRequest, actor: Actor, *, by_name: bool) -> bool:
    """Whether the actor owns the claimed training. A name is only believed where the chat id is not known, and
    only for what does no harm: people choose their names themselves."""
    if claim.owner_id:
        return actor.id == claim.owner_id
    return by_name and bool(claim.owner) and actor.name == claim.owner


def taken(claim: ReclaimRequest) -> str:
    """What becomes of the training that gives its GPUs back."""
    return "deleted (Kueue would wake it up again)" if claim.is_for_good else "suspended"


def reclaim_card(claim: ReclaimRequest, now: datetime) -> Message:
    """The claim's card: the question to the owner with its evidence and answers, and what came of it."""
    asked = text(
        f"{claim.gpus:g} GPUs of ",
        code(claim.training),
        f" did nothing: {claim.evidence}." if claim.evidence else " did nothing.",
    )
    blocks: list[Block] = [Paragraph(text=asked), Paragraph(text=_state(claim, now))]
    if claim.state in OPEN:
        blocks.append(Buttons(buttons=_answers(claim)))
    by = text("asked by ", person(claim.asked_by, claim.asked_by_name), " ", moment(claim.asked_at))
    blocks.append(Context(text=text(by, " · claim ", code(claim.id))))
    title, tone = _title(claim)
    return Message(title=title, color=tone, blocks=tuple(blocks))


def _title(claim: ReclaimRequest) -> tuple[Text, Color]:
    gpus, training = f"{claim.gpus:g} idle GPUs", code(claim.training)
    match claim.state:
        case ReclaimState.ASKED | ReclaimState.SNOOZED:
            return text(_owner(claim), f": may I have {gpus} of ", training, " back?"), Color.WARNING
        case ReclaimState.KEPT:
            return text(bold("Kept: "), f"{gpus} of ", training), Color.QUIET
        case ReclaimState.FREED:
            return text(bold("Freed: "), f"{gpus} of ", training), Color.GOOD
        case ReclaimState.VOID:
            return text(bold("Settled by itself: "), training), Color.QUIET


def _state(claim: ReclaimRequest, now: datetime) -> Text:
    answerer = person(claim.answered_by) if claim.answered_by else text("its owner")
    why = f": {claim.keep_reason}" if claim.keep_reason else ""
    match claim.state:
        case ReclaimState.ASKED:
            if now < claim.grace_until:
                return text("Without an answer it is ", taken(claim), " ", _when(claim, now), ".")
            return text("Nobody answered until ", _when(claim, now), ": it is looked at once more.")
        case ReclaimState.SNOOZED:
            asked = text(answerer, " asked for more time", why, ". It is ")
            return text(asked, taken(claim), " ", _when(claim, now), ".")
        case ReclaimState.KEPT:
            return text(answerer, " needs them", why, ".")
        case ReclaimState.FREED if claim.answered_by:
            return text(answerer, " gave them back.")
        case ReclaimState.FREED if claim.is_for_good:
            return text("Nobody answered in time, so it was deleted.")
        case ReclaimState.FREED:
            return text("Nobody answered in time. `plan undo` of the plan that suspended it starts it anew.")
        case ReclaimState.VOID:
            return text(f"Nothing was done{why}.")


def _when(claim: ReclaimRequest, now: datetime) -> Text:
    left = claim.grace_until - now
    told = f" (in {in_words(left, parts=1)})" if left > timedelta() else ""
    return text(moment(claim.grace_until), told)


def _answers(claim: ReclaimRequest) -> tuple[Button, ...]:
    at = f"{claim.id} --cluster {claim.cluster}"
    return (
        Button(label="I need them", line=f"gpu keep {at}", style=ButtonStyle.PRIMARY),
        Button(label="2 more hours", line=f"gpu snooze {at} --for 2h"),
        Button(label="Take them", line=f"gpu release {at}", style=ButtonStyle.DANGER),
    )


def _owner(claim: ReclaimRequest) -> Text:
    if claim.owner_id:
        return text(person(claim.owner_id, claim.owner))
    return text(claim.owner or "whoever owns it")
