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


def settlement_of(reclaim: ReclaimRequest) -> DueCommand:
    """When the claim is settled without an answer, and how. A later one of the same claim replaces it."""
    return DueCommand(
        id=settlement_id(reclaim),
        cluster=reclaim.cluster,
        at=reclaim.grace_until,
        line=f"gpu settle {reclaim.id} --cluster {reclaim.cluster}",
        actor=AUTOMATION,
    )


def settlement_id(reclaim: ReclaimRequest) -> str:
    return f"reclaim/{reclaim.id}"


def is_owner(reclaim: ReclaimRequest, actor: Actor, *, by_name: bool) -> bool:
    """Whether the actor owns the claimed training. A name is only believed where the chat id is not known, and
    only for what does no harm: people choose their names themselves."""
    if reclaim.owner_id:
        return actor.id == reclaim.owner_id
    return by_name and bool(reclaim.owner) and actor.name == reclaim.owner


def taken(reclaim: ReclaimRequest) -> str:
    """What becomes of the training that gives its GPUs back."""
    return "deleted (Kueue would wake it up again)" if reclaim.is_for_good else "suspended"


def reclaim_card(reclaim: ReclaimRequest, now: datetime) -> Message:
    """The claim's card: the question to the owner with its evidence and answers, and what came of it."""
    asked = text(
        f"{reclaim.gpus:g} GPUs of ",
        code(reclaim.training),
        f" did nothing: {reclaim.evidence}." if reclaim.evidence else " did nothing.",
    )
    blocks: list[Block] = [Paragraph(text=asked), Paragraph(text=_state(reclaim, now))]
    if reclaim.state in OPEN:
        blocks.append(Buttons(buttons=_answers(reclaim)))
    by = text("asked by ", person(reclaim.asked_by, reclaim.asked_by_name), " ", moment(reclaim.asked_at))
    blocks.append(Context(text=text(by, " · claim ", code(reclaim.id))))
    title, tone = _title(reclaim)
    return Message(title=title, color=tone, blocks=tuple(blocks))


def _title(reclaim: ReclaimRequest) -> tuple[Text, Color]:
    gpus, training = f"{reclaim.gpus:g} idle GPUs", code(reclaim.training)
    match reclaim.state:
        case ReclaimState.ASKED | ReclaimState.SNOOZED:
            return text(_owner(reclaim), f": may I have {gpus} of ", training, " back?"), Color.WARNING
        case ReclaimState.KEPT:
            return text(bold("Kept: "), f"{gpus} of ", training), Color.QUIET
        case ReclaimState.FREED:
            return text(bold("Freed: "), f"{gpus} of ", training), Color.GOOD
        case ReclaimState.VOID:
            return text(bold("Settled by itself: "), training), Color.QUIET


def _state(reclaim: ReclaimRequest, now: datetime) -> Text:
    answerer = person(reclaim.answered_by) if reclaim.answered_by else text("its owner")
    reason = f": {reclaim.keep_reason}" if reclaim.keep_reason else ""
    match reclaim.state:
        case ReclaimState.ASKED:
            if now < reclaim.grace_until:
                return text("Without an answer it is ", taken(reclaim), " ", _when(reclaim, now), ".")
            return text("Nobody answered until ", _when(reclaim, now), ": it is looked at once more.")
        case ReclaimState.SNOOZED:
            asked = text(answerer, " asked for more time", reason, ". It is ")
            return text(asked, taken(reclaim), " ", _when(reclaim, now), ".")
        case ReclaimState.KEPT:
            return text(answerer, " needs them", reason, ".")
        case ReclaimState.FREED if reclaim.answered_by:
            return text(answerer, " gave them back.")
        case ReclaimState.FREED if reclaim.is_for_good:
            return text("Nobody answered in time, so it was deleted.")
        case ReclaimState.FREED:
            return text("Nobody answered in time. `plan undo` of the plan that suspended it starts it anew.")
        case ReclaimState.VOID:
            return text(f"Nothing was done{reason}.")


def _when(reclaim: ReclaimRequest, now: datetime) -> Text:
    left = reclaim.grace_until - now
    told = f" (in {in_words(left, parts=1)})" if left > timedelta() else ""
    return text(moment(reclaim.grace_until), told)


def _answers(reclaim: ReclaimRequest) -> tuple[Button, ...]:
    at = f"{reclaim.id} --cluster {reclaim.cluster}"
    return (
        Button(label="I need them", line=f"gpu keep {at}", style=ButtonStyle.PRIMARY),
        Button(label="2 more hours", line=f"gpu snooze {at} --for 2h"),
        Button(label="Take them", line=f"gpu release {at}", style=ButtonStyle.DANGER),
    )


def _owner(reclaim: ReclaimRequest) -> Text:
    if reclaim.owner_id:
        return text(person(reclaim.owner_id, reclaim.owner))
    return text(reclaim.owner or "whoever owns it")
