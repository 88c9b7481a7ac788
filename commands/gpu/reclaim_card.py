"""Reclaim requests: their ids, owners, settlement and card. Pure."""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from hashlib import blake2b

import msgspec

from alerts.cards.message import Block, Button, Buttons, ButtonStyle, Color, Context, Message, Paragraph
from alerts.cards.text import Text, bold, code, markup, moment, person, text
from collectors.facts.sentences import moment_words
from commands.core.persons import automation_id
from commands.core.request import Actor
from commands.execution.object_state import ObjectState
from commands.execution.record_steps import left_by, left_undone, record
from commands.execution.steps import Record, Step
from commands.models import OPEN_REQUEST, DueCommand, ReclaimRequest, ReclaimState

OPEN = OPEN_REQUEST
KEEP_FOR = timedelta(hours=12)  # after an owner kept their GPUs there is no new request for this long
AUTOMATION = "reclaim"  # the actor that settles requests without an answer
SETTLE = "gpu settle"  # what it runs
SETTLEMENT = "reclaim/"  # before the request's id: the id of its due command
NOT_AUTOMATIC = (
    "Without an answer nothing happens by itself: the settings let no automation suspend it "
    "(`automation.reclaim`), so a person has to release it."
)


def request_id(cluster: str, training: str, earlier: int) -> str:
    """Return the id of the next request for a training with this many earlier ones, stable across planning."""
    seed = f"{cluster}\n{training}\n{earlier}".encode()
    return f"c{blake2b(seed, digest_size=4).hexdigest()}"


def settlement_of(reclaim: ReclaimRequest) -> DueCommand:
    """Return the due command that settles the request. A later one of the same request replaces it."""
    return DueCommand(
        id=settlement_id(reclaim),
        cluster=reclaim.cluster,
        at=reclaim.grace_until,
        line=f"{SETTLE} {reclaim.id} --cluster {reclaim.cluster}",
        actor=automation_id(AUTOMATION),
    )


def settlement_step(reclaim: ReclaimRequest) -> Record:
    """Return the step that puts the settlement on the agenda."""
    text = f"without an answer, free them after {moment_words(reclaim.grace_until)}"
    return record(
        "agenda",
        settlement_of(reclaim),
        text=text,
        undo_text="do not free them without an answer",
        goes_with=reclaim.id,
    )


def request_step(
    reclaim: ReclaimRequest,
    *,
    text: str,
    before: ReclaimRequest,
    has_inverse: bool = True,
    undo_text: str = "",
    scope: tuple[str, ...] = (),
    about: Iterable[ObjectState] = (),
    about_undone: Iterable[ObjectState] = (),
) -> Record:
    """Return the step that puts the request where it still is `before`: an answer that came first stands."""
    return record(
        "reclaim_requests",
        reclaim,
        text=text,
        before=before,
        has_inverse=has_inverse,
        undo_text=undo_text,
        expects=f"request {reclaim.id} for {reclaim.shown}",
        scope=scope,
        about=about,
        about_undone=about_undone,
    )


def freed_step(
    freed: ReclaimRequest, steps: Sequence[Step], *, before: ReclaimRequest, has_inverse: bool
) -> Record:
    """Return the step that records that these steps freed the GPUs, while what they stopped is stopped, or gone."""
    return request_step(
        freed,
        text="record that the GPUs are free",
        before=before,
        has_inverse=has_inverse,
        about=(msgspec.structs.replace(left, if_exists=True) for left in left_by(steps)),
        about_undone=left_undone(steps),
    )


def settlement_id(reclaim: ReclaimRequest) -> str:
    return f"{SETTLEMENT}{reclaim.id}"


def is_owner(reclaim: ReclaimRequest, actor: Actor, *, by_name: bool) -> bool:
    """Whether the actor owns the training. A name is only trusted if the owner's id is unknown, and only for
    harmless answers: people choose their names themselves."""
    if reclaim.owner_id:
        return actor.is_one(reclaim.owner_id)
    return by_name and bool(reclaim.owner) and actor.name == reclaim.owner


def released(reclaim: ReclaimRequest) -> str:
    """Return how the training gives its GPUs back."""
    return "deleted (Kueue would resume it)" if reclaim.is_for_good else "suspended"


def reclaim_card(reclaim: ReclaimRequest, now: datetime, *, plan: str = "") -> Message:
    """Return the card of the request: its evidence, its outcome, and the buttons to answer.

    `plan`: the id of the plan that freed its GPUs, if it is known.
    """
    measured = [Paragraph(text=text("Measured: ", reclaim.evidence, "."))] if reclaim.evidence else []
    blocks: list[Block] = [*measured, Paragraph(text=_state(reclaim, now, plan))]
    if reclaim.state in OPEN:
        blocks.append(Buttons(buttons=answer_buttons(reclaim)))
    elif reclaim.state is ReclaimState.FREED and (buttons := start_again(reclaim, plan)):
        blocks.append(Buttons(buttons=buttons))
    by = text("requested by ", person(reclaim.asked_by, reclaim.asked_by_name), " ", moment(reclaim.asked_at))
    blocks.append(Context(text=text(by, " · request ", code(reclaim.id))))
    title, tone = _title(reclaim)
    return Message(title=title, color=tone, blocks=tuple(blocks))


def _title(reclaim: ReclaimRequest) -> tuple[Text, Color]:
    gpus, training = f"{reclaim.gpus:g} idle GPUs", code(reclaim.shown)
    match reclaim.state:
        case ReclaimState.ASKED | ReclaimState.SNOOZED:
            return text(_owner(reclaim), f": are {gpus} of ", training, " still needed?"), Color.WARNING
        case ReclaimState.KEPT:
            return text(bold("Kept: "), f"{gpus} of ", training), Color.QUIET
        case ReclaimState.FREED:
            return text(bold("Freed: "), f"{gpus} of ", training), Color.GOOD
        case ReclaimState.VOID:
            return text(bold("Closed: "), training), Color.QUIET


def _state(reclaim: ReclaimRequest, now: datetime, plan: str) -> Text:
    answerer = person(reclaim.answered_by) if reclaim.answered_by else text("its owner")
    reason = f": {reclaim.keep_reason}" if reclaim.keep_reason else ""
    match reclaim.state:
        case ReclaimState.ASKED if not reclaim.is_automatic:
            return markup(NOT_AUTOMATIC)
        case ReclaimState.ASKED:
            if now < reclaim.grace_until:
                return text(
                    "Without an answer it is ", released(reclaim), " ", moment(reclaim.grace_until), "."
                )
            return text("No answer until ", moment(reclaim.grace_until), ". Its GPUs are checked once more.")
        case ReclaimState.SNOOZED if not reclaim.is_automatic:
            return text(answerer, " asked for more time", reason, ". ", *markup(NOT_AUTOMATIC))
        case ReclaimState.SNOOZED:
            snoozed = text(answerer, " asked for more time", reason, ". It is ")
            return text(snoozed, released(reclaim), " ", moment(reclaim.grace_until), ".")
        case ReclaimState.KEPT:
            return text(answerer, " needs them", reason, ".")
        case ReclaimState.FREED if reclaim.answered_by:
            return text(answerer, " gave them back.")
        case ReclaimState.FREED if reclaim.is_for_good:
            return text("No answer in time, so it was deleted.")
        case ReclaimState.FREED if plan:
            return text("No answer in time, so it was suspended by plan ", code(plan), ".")
        case ReclaimState.FREED:
            return text("No answer in time, so it was suspended.")
        case ReclaimState.VOID:
            return text(f"Nothing was done{reason}.")


def half_time_text(reclaim: ReclaimRequest) -> Text:
    """Return the reminder of a request that nobody has answered yet."""
    idle = text(_owner(reclaim), f": {reclaim.gpus:g} idle GPUs of ", code(reclaim.shown))
    return text(idle, f" are {released(reclaim)} ", moment(reclaim.grace_until), " unless you answer.")


def freed_text(reclaim: ReclaimRequest, plan: str) -> Text:
    """Return what the owner reads when nobody answered and the plan has freed the GPUs."""
    done = "deleted" if reclaim.is_for_good else "suspended"
    what = text(_owner(reclaim), ": ", code(reclaim.shown), f" was {done}, as nobody answered")
    return text(what, " (plan ", code(plan), ").")


def start_again(reclaim: ReclaimRequest, plan: str) -> tuple[Button, ...]:
    """Return the button that resumes a training whose GPUs were freed; none where that is not possible."""
    if not plan or reclaim.is_for_good:
        return ()
    line = f"plan undo {plan} --cluster {reclaim.cluster}"
    return (Button(label="Start it again", line=line, style=ButtonStyle.PRIMARY),)


def answer_buttons(reclaim: ReclaimRequest) -> tuple[Button, ...]:
    """Return what the owner may answer."""
    at = f"{reclaim.id} --cluster {reclaim.cluster}"
    return (
        Button(label="I need them", line=f"gpu keep {at}", style=ButtonStyle.PRIMARY),
        Button(label="2 more hours", line=f"gpu snooze {at} --for 2h"),
        Button(label="Release them", line=f"gpu release {at}", style=ButtonStyle.DANGER),
    )


def _owner(reclaim: ReclaimRequest) -> Text:
    if reclaim.owner_id:
        return text(person(reclaim.owner_id, reclaim.owner))
    return text(reclaim.owner or "Unknown owner")
