"""The card of a reclaim request, and the reminders in its thread. Pure."""

from datetime import datetime

from alerts.cards.message import Block, Button, Buttons, ButtonStyle, Color, Context, Message, Paragraph
from alerts.cards.text import Span, Text, bold, code, person, text
from collectors.facts.sentences import Sentence, counted, listed, sentence
from commands.gpu.consent_card import consent_buttons, consent_card, consent_reminder
from commands.gpu.reclaim_requests import NOT_AUTOMATIC
from commands.models import OPEN_REQUEST, ReclaimRequest, ReclaimState


def reclaim_card(reclaim: ReclaimRequest, now: datetime, *, plan: str = "") -> Message:
    """Return the card of the request: its evidence, its outcome, and the buttons to answer.

    `plan`: the id of the plan that freed its GPUs, if it is known.
    """
    if reclaim.for_plan:
        return consent_card(reclaim, now)
    measured = (
        [Paragraph(text=text(sentence("Measured: {evidence}.", evidence=reclaim.evidence)))]
        if reclaim.evidence
        else []
    )
    blocks: list[Block] = [*measured, Paragraph(text=_state(reclaim, now, plan))]
    if reclaim.state in OPEN_REQUEST:
        blocks.append(Buttons(buttons=answer_buttons(reclaim)))
    elif reclaim.state is ReclaimState.FREED and (buttons := start_again(reclaim, plan)):
        blocks.append(Buttons(buttons=buttons))
    who = person(reclaim.asked_by, reclaim.asked_by_name)
    by = sentence("requested by {who} {at}", who=who, at=reclaim.asked_at)
    blocks.append(Context(text=text(by, " · ", sentence("request `{request}`", request=reclaim.id))))
    title, tone = _title(reclaim)
    return Message(title=title, color=tone, blocks=tuple(blocks))


def _title(reclaim: ReclaimRequest) -> tuple[Text, Color]:
    gpus = counted(
        "{count:g} idle GPU of `{training}`",
        "{count:g} idle GPUs of `{training}`",
        count=reclaim.gpus,
        training=reclaim.shown,
    )
    match reclaim.state:
        case ReclaimState.ASKED | ReclaimState.SNOOZED:
            question = counted(
                "{owner}: is {count:g} idle GPU of `{training}` still needed?",
                "{owner}: are {count:g} idle GPUs of `{training}` still needed?",
                owner=_owner(reclaim),
                count=reclaim.gpus,
                training=reclaim.shown,
            )
            return text(question), Color.WARNING
        case ReclaimState.KEPT:
            return text(bold("Kept: "), gpus), Color.QUIET
        case (
            ReclaimState.FREED | ReclaimState.AGREED | ReclaimState.AFTER_CHECKPOINT
        ):  # only a plan has the others
            return text(bold("Freed: "), gpus), Color.GOOD
        case ReclaimState.VOID:
            return text(bold("Closed: "), code(reclaim.shown)), Color.QUIET


def _state(reclaim: ReclaimRequest, now: datetime, plan: str) -> Text:
    at = reclaim.grace_until
    who = person(reclaim.answered_by) if reclaim.answered_by else sentence("its owner")
    match reclaim.state:
        case ReclaimState.ASKED if not reclaim.is_automatic:
            return text(NOT_AUTOMATIC)
        case ReclaimState.ASKED if now >= at:
            return text(sentence("No answer by {at}. Its GPUs are checked once more.", at=at))
        case ReclaimState.ASKED:
            return text(sentence("Without an answer by {at}, it is suspended.", at=at))
        case ReclaimState.SNOOZED:
            return text(listed((_snoozed(reclaim, who), _end(reclaim)), "."))
        case ReclaimState.KEPT if reclaim.keep_reason:
            return text(sentence("{who} needs them: {reason}.", who=who, reason=reclaim.keep_reason))
        case ReclaimState.KEPT:
            return text(sentence("{who} needs them.", who=who))
        case ReclaimState.FREED if reclaim.answered_by:
            return text(sentence("{who} gave them back.", who=who))
        case ReclaimState.FREED if reclaim.keep_reason:
            return text(sentence("No answer in time: {reason}.", reason=reclaim.keep_reason))
        case ReclaimState.FREED if plan:
            return text(sentence("No answer in time, so it was suspended by plan `{plan}`.", plan=plan))
        case ReclaimState.FREED:
            return text("No answer in time, so it was suspended.")
        case ReclaimState.AGREED | ReclaimState.AFTER_CHECKPOINT:
            return text(sentence("{who} gave them back.", who=who))
        case ReclaimState.VOID if reclaim.keep_reason:
            return text(sentence("Nothing was done: {reason}.", reason=reclaim.keep_reason))
        case ReclaimState.VOID:
            return text("Nothing was done.")


def _snoozed(reclaim: ReclaimRequest, who: Span | Sentence) -> Sentence:
    if reclaim.keep_reason:
        return sentence("{who} asked for more time: {reason}.", who=who, reason=reclaim.keep_reason)
    return sentence("{who} asked for more time.", who=who)


def _end(reclaim: ReclaimRequest) -> Sentence:
    """Return what happens at the end of the time that was asked for."""
    if not reclaim.is_automatic:
        return NOT_AUTOMATIC
    return sentence("It is suspended after {at}.", at=reclaim.grace_until)


def half_time_text(reclaim: ReclaimRequest) -> Text:
    """Return the reminder of a request that nobody has answered yet."""
    if reclaim.for_plan:
        return consent_reminder(reclaim)
    said = counted(
        "{owner}: `{training}` with {count:g} idle GPU is suspended unless you answer by {at}.",
        "{owner}: `{training}` with {count:g} idle GPUs is suspended unless you answer by {at}.",
        owner=_owner(reclaim),
        count=reclaim.gpus,
        training=reclaim.shown,
        at=reclaim.grace_until,
    )
    return text(said)


def freed_text(reclaim: ReclaimRequest, plan: str) -> Text:
    """Return what the owner reads when nobody answered and the plan has freed the GPUs."""
    owner, training = _owner(reclaim), reclaim.shown
    return text(
        sentence(
            "{owner}: `{training}` was suspended, as nobody answered (plan `{plan}`).",
            owner=owner,
            training=training,
            plan=plan,
        )
    )


def start_again(reclaim: ReclaimRequest, plan: str) -> tuple[Button, ...]:
    """Return the button that resumes a training whose GPUs were freed; none where that is not possible."""
    if not plan or reclaim.keep_reason:
        return ()
    line = f"plan undo {plan} --cluster {reclaim.cluster}"
    return (Button(label="Start it again", line=line, style=ButtonStyle.PRIMARY),)


def answer_buttons(reclaim: ReclaimRequest) -> tuple[Button, ...]:
    """Return what the owner may answer."""
    if reclaim.for_plan:
        return consent_buttons(reclaim)
    at = f"{reclaim.id} --cluster {reclaim.cluster}"
    return (
        Button(label="I need them", line=f"gpu keep {at}", style=ButtonStyle.PRIMARY),
        Button(label="2 more hours", line=f"gpu snooze {at} --for 2h"),
        Button(label="Release them", line=f"gpu release {at}", style=ButtonStyle.DANGER),
    )


def _owner(reclaim: ReclaimRequest) -> Text:
    if reclaim.owner_id:
        return text(person(reclaim.owner_id, reclaim.owner))
    return text(reclaim.owner or sentence("Unknown owner"))
