"""Messages about trainings: the list and the details of one. Pure."""

from collections.abc import Mapping, Sequence
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
    Preformatted,
    Table,
)
from alerts.cards.text import Text, bold, code, text
from collectors.cluster.inventory import Inventory
from collectors.cluster.kinds import EVENTS
from collectors.facts.redaction import Redactor
from collectors.facts.sentences import counted, listed, sentence, word
from collectors.facts.workload_keys import shown_kind
from collectors.trainings.training import Training, TrainingState
from commands.core.event_lines import event_lines
from commands.core.lookups import age
from commands.training.failure_blocks import ShownFailure, failure_blocks
from commands.training.no_sign import no_sign
from commands.training.training_events import events_about

MAX_ROWS, MAX_RANKS, MAX_EVENTS = 60, 40, 8
TONES = {
    TrainingState.QUEUED: Color.BUSY,
    TrainingState.STARTING: Color.BUSY,
    TrainingState.RUNNING: Color.GOOD,
    TrainingState.SUSPENDED: Color.QUIET,
    TrainingState.SUCCEEDED: Color.GOOD,
    TrainingState.FAILED: Color.CRITICAL,
    TrainingState.STOPPED: Color.QUIET,
}


def training_table(trainings: Sequence[Training], now: datetime) -> Table:
    """Return a row per training: those that do not run first, the ended ones last, each largest first."""
    ordered = sorted(
        trainings,
        key=lambda training: (
            training.state.is_over,
            training.state is TrainingState.RUNNING,
            -training.gpus_wanted,
            training.shown,
        ),
    )
    rows = tuple(
        (
            _listed(training),
            training.state.value,
            f"{training.gpus:g}"
            if training.gpus == training.gpus_wanted
            else sentence(
                "{gpus:g} of {gpus_wanted:g}", gpus=training.gpus, gpus_wanted=training.gpus_wanted
            ),
            f"{running(training)}/{training.wanted}",
            training.owner or "?",
            training.reason,
            age(training.created, now),
            str(len(nodes_of(training))),
        )
        for training in ordered
    )
    heading = ("training", "state", "GPUs", "ranks", "owner", "reason", "age", "nodes")
    return Table(heading=heading, rows=rows[:MAX_ROWS], more=max(0, len(rows) - MAX_ROWS))


def _listed(training: Training) -> str:
    """Return its name, and what to type instead where another has the same one."""
    return f"{training.shown} ({training.id})" if training.is_name_shared else training.shown


def training_details(
    training: Training,
    inventory: Inventory,
    now: datetime,
    *,
    may: Mapping[str, bool],
    incidents: Sequence[tuple[str, str]] = (),
    failure: ShownFailure | None = None,
    redactor: Redactor,
    more: Sequence[tuple[str, Text]] = (),
    links: Sequence[Button] = (),
) -> Message:
    """Return the details of a training.

    `incidents` are the ids and summaries of those about it.
    """
    reason = no_sign(training, training.created, now) or training.reason
    rows: list[tuple[str, Text]] = [
        ("kind", text(shown_kind(training.kind))),
        ("state", text(listed(filter(None, (bold(word(training.state.value)), reason)), ":"))),
        ("owner", text(_owner(training))),
        (
            "ranks",
            text(
                counted(
                    "{running} of {wanted} run on {count} node",
                    "{running} of {wanted} run on {count} nodes",
                    running=running(training),
                    wanted=training.wanted,
                    count=len(nodes_of(training)),
                )
            ),
        ),
        (
            "GPUs",
            text(
                sentence(
                    "{gpus:g} held, {gpus_wanted:g} requested",
                    gpus=training.gpus,
                    gpus_wanted=training.gpus_wanted,
                )
            ),
        ),
    ]
    rows += more
    rows += (
        [("restarts", text(sentence("{restarts} of all ranks", restarts=training.restarts)))]
        if training.restarts
        else []
    )
    rows += [("progress", text(training.progress))] if training.progress else []
    if training.queue and not any(name == "queue" for name, _ in rows):
        rows.append(("queue", text(training.queue)))
    rows += [("priority", text(training.priority))] if training.priority else []
    rows += [("managed by", text(training.tool))] if training.tool else []
    times = (("created", training.created), ("started", training.started), ("ended", training.finished))
    rows += [(name, text(sentence("{at}, {age} ago", at=at, age=age(at, now)))) for name, at in times if at]
    rows += [("incident", text(code(id), " ", summary)) for id, summary in incidents]
    blocks: list[Block] = [Fields(rows=tuple(rows))]
    if failure is not None:
        blocks += failure_blocks(failure)
    if training.ranks:
        blocks.append(_ranks(training))
    blocks += _events(training, inventory, now, redactor)
    if buttons := (*_buttons(training, may), *links):
        blocks.append(Buttons(buttons=buttons))
    return Message(
        title=text(bold(sentence("Training {training}", training=training.shown))),
        color=TONES[training.state],
        blocks=tuple(blocks),
    )


def _owner(training: Training) -> str:
    owner = training.owner or sentence("unknown")
    return sentence("{owner}, team {team}", owner=owner, team=training.team) if training.team else owner


def running(training: Training) -> int:
    return sum(rank.phase == "Running" for rank in training.ranks)


def nodes_of(training: Training) -> list[str]:
    return sorted(
        {rank.node for rank in training.ranks if rank.node and rank.phase in ("Pending", "Running")}
    )


def _ranks(training: Training) -> Table:
    rows = tuple(
        (
            f"{rank.role} {rank.index}",
            rank.node or "–",
            rank.phase,
            f"{rank.gpus:g}",
            str(rank.restarts),
            "" if rank.exit_code is None else str(rank.exit_code),
            rank.explanation or rank.reason,
        )
        for rank in sorted(training.ranks, key=lambda rank: (rank.phase == "Running", rank.role, rank.index))
    )
    return Table(
        heading=("rank", "node", "phase", "GPUs", "restarts", "exit", "reason"),
        rows=rows[:MAX_RANKS],
        more=max(0, len(rows) - MAX_RANKS),
    )


def _events(training: Training, inventory: Inventory, now: datetime, redactor: Redactor) -> list[Block]:
    if reason := inventory.missing_reason(EVENTS):
        return [Context(text=text(sentence("Events cannot be seen: {reason}", reason=reason)))]
    # Every rank tends to have the same event: it is shown once, with a count.
    lines = event_lines(events_about(training, inventory), now, redactor, most=MAX_EVENTS)
    return [Preformatted(lines=lines)] if lines else []


def _buttons(training: Training, may: Mapping[str, bool]) -> tuple[Button, ...]:
    buttons = []
    if may.get("training why", False) and training.state in (TrainingState.QUEUED, TrainingState.STARTING):
        buttons.append(Button(label="Why?", line=f"training why {training.typed}"))
    if may.get("training logs", False) and (training.ranks or training.failures):
        buttons.append(Button(label="Logs", line=f"training logs {training.typed}"))
    if may.get("training stop", False) and training.workloads:
        label = "Delete" if training.state.is_over else "Stop"
        buttons.append(Button(label=label, line=f"training stop {training.typed}", style=ButtonStyle.DANGER))
    return tuple(buttons)
