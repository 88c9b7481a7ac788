"""The card of a launched training, shown in the thread of its owner. Pure."""

from collections.abc import Sequence
from datetime import datetime

from alerts.cards.message import (
    Block,
    Button,
    Buttons,
    ButtonStyle,
    Color,
    Context,
    Fields,
    Message,
    Paragraph,
    Preformatted,
)
from alerts.cards.text import Text, bold, moment, person, text
from collectors.facts.one_line import some_of
from collectors.facts.sentences import sentence, word
from collectors.trainings.training import Training, TrainingState
from commands.models import Launch
from commands.training.details import TONES, nodes_of, running
from commands.training.failure_blocks import ShownFailure, failure_blocks, failure_of_row

LINES_SHOWN = 12
_MARKS = {
    TrainingState.QUEUED: "◔",
    TrainingState.STARTING: "◔",
    TrainingState.RUNNING: "▶",
    TrainingState.SUSPENDED: "⏸",
    TrainingState.SUCCEEDED: "✓",
    TrainingState.FAILED: "✗",
    TrainingState.STOPPED: "–",
}


def launch_card(
    launch: Launch,
    training: Training | None,
    *,
    last_lines: Sequence[str] = (),
    failure: ShownFailure | None = None,
    again: Button | None = None,
) -> Message:
    """Return the card of a launched training. `training` is None if the cluster does not show it (any more).

    `last_lines` are those of the task that failed first, already redacted; `again` launches it elsewhere.
    """
    if training is None or (launch.is_over and not training.state.is_over):  # undone: it is being deleted
        return _unseen(launch)
    rows: list[tuple[str, Text]] = [
        (
            "ranks",
            text(sentence("{running} of {wanted} run", running=running(training), wanted=training.wanted)),
        )
    ]
    if training.state is TrainingState.RUNNING and (
        nodes := nodes_of(training)
    ):  # before, they come one by one
        rows.append(("nodes", text(some_of(nodes, 8))))
    if training.gpus_wanted:
        held = (
            f"{training.gpus:g}"
            if training.gpus == training.gpus_wanted
            else sentence(
                "{gpus:g} held, {gpus_wanted:g} requested",
                gpus=training.gpus,
                gpus_wanted=training.gpus_wanted,
            )
        )
        rows.append(
            (
                "GPUs",
                text(
                    held
                    if training.gpus
                    else sentence("{gpus_wanted:g} requested, none held", gpus_wanted=training.gpus_wanted)
                ),
            )
        )
    if launch.place and training.state is TrainingState.QUEUED:
        rows.append(("queue", text(launch.place)))
    if training.progress:
        rows.append(("progress", text(training.progress)))
    started, finished = training.started or launch.started, training.finished or launch.finished
    if started:
        since = text(moment(started))
        if finished and training.state.is_over:
            since = text(sentence("{at}, {lasting}", at=started, lasting=finished - started))
        rows.append(("since", since))
    rows += _used(launch, training, started, finished)
    if launch.by_whom and training.state in (TrainingState.SUSPENDED, TrainingState.STOPPED):
        rows.append(("by", text(launch.by_whom)))
    blocks: list[Block] = []
    # What the watcher says of a training that nobody has taken up is not the training's own reason.
    reason = training.reason if training.has_sign else launch.reported_reason or training.reason
    if reason and training.state is not TrainingState.RUNNING:
        blocks.append(Paragraph(text=text(bold("Reason: "), reason)))
    blocks.append(Fields(rows=tuple(rows)))
    failure = failure or failure_of_row(launch, None, training.first_failures)
    if training.state is TrainingState.FAILED and failure.is_known:
        blocks += failure_blocks(failure)
        if last_lines:
            blocks.append(Preformatted(lines=tuple(last_lines[-LINES_SHOWN:])))
    offered = (again,) if again is not None and training.state is TrainingState.FAILED else ()
    blocks.append(Buttons(buttons=(*offered, *_buttons(training))))
    blocks.append(_foot(launch))
    title = text(f"{_MARKS[training.state]} ", bold(training.shown), ": ", word(training.state.value))
    return Message(title=title, color=TONES[training.state], blocks=tuple(blocks))


def _used(
    launch: Launch, training: Training, started: datetime | None, finished: datetime | None
) -> list[tuple[str, Text]]:
    """Return what a training used that is over: the GPU-hours, and the most memory of its GPUs."""
    rows: list[tuple[str, Text]] = []
    if not training.state.is_over or started is None or finished is None or not training.gpus_wanted:
        return rows
    hours = training.gpus_wanted * (finished - started).total_seconds() / 3600
    rows.append(("GPU-hours", text(f"{hours:.1f}")))
    if launch.peak_memory is not None:
        rows.append(
            ("GPU memory", text(sentence("{memory:.0f} GiB at most", memory=launch.peak_memory / 1024)))
        )
    return rows


def _unseen(launch: Launch) -> Message:
    if launch.is_over:
        now = word(launch.reported_state or TrainingState.STOPPED.value)
        if launch.reported_reason:
            now = sentence("{state}, {reason}", state=now, reason=launch.reported_reason)
    elif launch.reported_state:
        now = sentence("is gone; it was {state} when last seen", state=word(launch.reported_state))
    else:
        now = sentence("is not visible yet")
    return Message(
        title=text("– ", bold(launch.shown), ": ", now), color=Color.QUIET, blocks=(_foot(launch),)
    )


def _buttons(training: Training) -> tuple[Button, ...]:
    label = "Delete" if training.state.is_over else "Stop"
    waits = training.state in (TrainingState.QUEUED, TrainingState.STARTING)
    why = (Button(label="Why?", line=f"training why {training.typed}"),) if waits else ()
    return (
        *why,
        Button(label="Logs", line=f"training logs {training.typed}"),
        Button(label="Details", line=f"training show {training.typed}"),
        Button(label=label, line=f"training stop {training.typed}", style=ButtonStyle.DANGER),
    )


def _foot(launch: Launch) -> Context:
    by = person(launch.by, launch.by_name) if launch.by or launch.by_name else text(sentence("unknown"))
    if not launch.is_launched:
        return Context(text=text(sentence("of {who}, created {at}", who=by, at=launch.at)))
    said = text(sentence("launched by {who} {at}", who=by, at=launch.at))
    if launch.plan:
        said = text(said, " · ", sentence("plan `{plan}`", plan=launch.plan))
    return Context(text=said)
