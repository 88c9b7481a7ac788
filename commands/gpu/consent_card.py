"""The card of a request that a plan makes to the owner of what it ends, and its reminder. Pure."""

from datetime import datetime

from alerts.cards.message import Block, Button, Buttons, ButtonStyle, Color, Context, Message, Paragraph
from alerts.cards.text import Text, bold, code, person, text
from collectors.facts.sentences import sentence
from commands.gates.training_answers import about
from commands.models import OPEN_REQUEST, ReclaimRequest, ReclaimState

MOST_BY_ITSELF = 5  # trainings of a request that have buttons of their own


def consent_card(request: ReclaimRequest, now: datetime) -> Message:
    """Return the card: the plan that waits, what it would end, and the buttons to answer."""
    blocks: list[Block] = [
        Paragraph(text=text(bold("It waits to: "), request.plan_title)),
    ]
    if request.evidence:
        blocks.append(Paragraph(text=text(bold("At stake: "), request.evidence)))
    several = request.trainings if request.also and len(request.trainings) <= MOST_BY_ITSELF else ()
    if not request.answers:
        blocks.append(Paragraph(text=text(_state(request, now))))
    for key in several or (request.trainings if request.answers else ()):
        one = about(request, key)
        blocks.append(Paragraph(text=text(code(one.shown), ": ", _state(one, now))))
        if one.state in OPEN_REQUEST and key in several:
            blocks.append(Buttons(buttons=consent_buttons(one, of=one.shown)))
    if request.state in OPEN_REQUEST:
        if several:
            blocks.append(Paragraph(text=text("All of them:")))
        blocks.append(Buttons(buttons=consent_buttons(request)))
    who = person(request.asked_by, request.asked_by_name)
    by = sentence("asked by {who} {at}", who=who, at=request.asked_at)
    of = sentence("plan `{plan}` · request `{request}`", plan=request.for_plan, request=request.id)
    blocks.append(Context(text=text(by, " · ", of)))
    title, tone = _title(request)
    return Message(title=title, color=tone, blocks=tuple(blocks))


def consent_buttons(request: ReclaimRequest, *, of: str = "") -> tuple[Button, ...]:
    """Return what the owner may answer. `of`: about which training, if not about all of the request."""
    at = f"{request.id} --cluster {request.cluster}" + (f" --training {of}" if of else "")
    later = f"gpu agree {at} --after-checkpoint"
    return (
        Button(label="Go on", line=f"gpu agree {at}", style=ButtonStyle.DANGER),
        Button(label="After the next checkpoint", line=later),
        Button(label="Keep it 2 more hours", line=f"gpu snooze {at} --for 2h"),
        Button(label="I need it", line=f"gpu keep {at}", style=ButtonStyle.PRIMARY),
    )


def consent_reminder(request: ReclaimRequest) -> Text:
    """Return the reminder of a request that nobody has answered yet."""
    return text(
        sentence(
            "{owner}: plan `{plan}` waits until {at} for your answer about `{training}`.",
            owner=_owner(request),
            plan=request.for_plan,
            at=request.grace_until,
            training=request.shown,
        )
    )


def _title(request: ReclaimRequest) -> tuple[Text, Color]:
    match request.state:
        case ReclaimState.ASKED | ReclaimState.SNOOZED | ReclaimState.AFTER_CHECKPOINT:
            question = sentence(
                "{owner}: may `{training}` be ended?", owner=_owner(request), training=request.shown
            )
            return text(question), Color.WARNING
        case ReclaimState.KEPT:
            return text(bold("Kept: "), code(request.shown)), Color.QUIET
        case ReclaimState.AGREED | ReclaimState.FREED:
            return text(bold("Agreed: "), code(request.shown)), Color.GOOD
        case ReclaimState.VOID:
            return text(bold("Closed: "), code(request.shown)), Color.QUIET


def _state(request: ReclaimRequest, now: datetime) -> Text:
    at = request.grace_until
    who = person(request.answered_by) if request.answered_by else sentence("its owner")
    match request.state:
        case ReclaimState.ASKED if now >= at:
            return text(sentence("No answer by {at}.", at=at))
        case ReclaimState.ASKED:
            return text(sentence("The plan waits for an answer until {at}.", at=at))
        case ReclaimState.SNOOZED:
            return text(sentence("{who} needs it until {at}; then the plan goes on.", who=who, at=at))
        case ReclaimState.AFTER_CHECKPOINT:
            return text(sentence("{who} lets it end after its next checkpoint.", who=who))
        case ReclaimState.KEPT if request.keep_reason:
            return text(sentence("{who} needs it: {reason}.", who=who, reason=request.keep_reason))
        case ReclaimState.KEPT:
            return text(sentence("{who} needs it.", who=who))
        case ReclaimState.AGREED | ReclaimState.FREED:
            return text(sentence("{who} lets it end.", who=who))
        case ReclaimState.VOID if request.keep_reason:
            return text(sentence("No answer is needed any more: {reason}.", reason=request.keep_reason))
        case ReclaimState.VOID:
            return text("No answer is needed any more.")


def _owner(request: ReclaimRequest) -> Text:
    return text(person(request.owner_id, request.owner))
