"""Reclaim requests: their ids, owners, and the steps that record and settle them. Pure."""

from collections.abc import Iterable, Sequence
from datetime import timedelta
from hashlib import blake2b

import msgspec

from collectors.facts.sentences import sentence
from commands.core.request import Actor
from commands.execution.automation_ids import automation_id
from commands.execution.object_state import ObjectState
from commands.execution.record_steps import left_by, left_undone, record
from commands.execution.steps import Record, Step
from commands.models import DueCommand, ReclaimRequest

KEEP_FOR = timedelta(hours=12)  # after an owner kept their GPUs there is no new request for this long
AUTOMATION = "reclaim"  # the actor that settles requests without an answer
SETTLE = "gpu settle"  # what it runs
SETTLEMENT = "reclaim/"  # before the request's id: the id of its due command
NOT_AUTOMATIC = sentence(
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
        channel=reclaim.channel,
    )


def settlement_step(reclaim: ReclaimRequest) -> Record:
    """Return the step that puts the settlement on the agenda."""
    text = sentence("make a plan to free them, if nobody answers by {at}", at=reclaim.grace_until)
    return record(
        "agenda",
        settlement_of(reclaim),
        text=text,
        undo_text=sentence("do not free them without an answer"),
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
        expects=sentence("request {request} for {training}", request=reclaim.id, training=reclaim.shown),
        scope=scope,
        about=about,
        about_undone=about_undone,
    )


def freed_step(freed: ReclaimRequest, steps: Sequence[Step], *, before: ReclaimRequest) -> Record:
    """Return the step that records that these steps freed the GPUs, while what they stopped is stopped, or gone."""
    return request_step(
        freed,
        text=sentence("record that the GPUs are free"),
        before=before,
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
