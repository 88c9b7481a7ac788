"""This file shows trainings: the list, and everything about one. Pure."""

from collections import Counter
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
    Paragraph,
    Preformatted,
    Table,
    Text,
    bold,
    code,
    moment,
    text,
)
from collectors.cluster.inventory import Inventory
from collectors.cluster.kinds import EVENTS
from collectors.cluster.objects import Event
from collectors.facts.redaction import Redactor
from collectors.trainings.exits import exit_meaning
from collectors.trainings.views import Life, Rank, TrainingView
from commands.looks import age

ROWS_AT_MOST, RANKS_AT_MOST, EVENTS_AT_MOST = 60, 40, 8
TONES = {
    Life.QUEUED: Color.BUSY,
    Life.STARTING: Color.BUSY,
    Life.RUNNING: Color.GOOD,
    Life.SUSPENDED: Color.QUIET,
    Life.SUCCEEDED: Color.GOOD,
    Life.FAILED: Color.CRITICAL,
    Life.STOPPED: Color.QUIET,
}


def training_table(views: Sequence[TrainingView], now: datetime) -> Table:
    """One row a training, the largest first."""
    ordered = sorted(views, key=lambda view: (view.life.is_over, -view.gpus_wanted, view.id))
    rows = tuple(
        (
            view.id,
            view.life.value,
            f"{running(view)}/{view.wanted}",
            f"{view.gpus:g}" if view.gpus == view.gpus_wanted else f"{view.gpus:g} of {view.gpus_wanted:g}",
            view.owner or "?",
            str(len(nodes_of(view))),
            age(view.created, now),
            _cut(view.reason, 60),
        )
        for view in ordered
    )
    heading = ("training", "life", "ranks", "GPUs", "owner", "nodes", "age", "why")
    return Table(heading=heading, rows=rows[:ROWS_AT_MOST], more=max(0, len(rows) - ROWS_AT_MOST))


def training_details(
    view: TrainingView,
    inventory: Inventory,
    now: datetime,
    *,
    may: Mapping[str, bool],
    incidents: Sequence[tuple[str, str]] = (),
    redactor: Redactor,
) -> Message:
    """All about one training. `incidents`: ids and summaries of the open ones that name it."""
    rows: list[tuple[str, Text]] = [
        ("life", text(bold(view.life.value), f": {view.reason}" if view.reason else "")),
        ("owner", text(view.owner or "not said", f", team {view.team}" if view.team else "")),
        ("ranks", text(f"{running(view)} of {view.wanted} run on {len(nodes_of(view))} nodes")),
        ("GPUs", text(f"{view.gpus:g} held, {view.gpus_wanted:g} wanted")),
    ]
    rows += [("priority", text(view.priority))] if view.priority else []
    moments = (("created", view.created), ("started", view.started), ("ended", view.finished))
    rows += [(word, text(moment(at), f", {age(at, now)} ago")) for word, at in moments if at]
    rows += [("incident", text(code(id), f" {summary}")) for id, summary in incidents]
    blocks: list[Block] = [Fields(rows=tuple(rows))]
    if first := view.first_failure:
        blocks.append(Paragraph(text=text(bold("Failed first: "), failure_words(first))))
    if view.ranks:
        blocks.append(_ranks(view))
    blocks += _events(view, inventory, now, redactor)
    if buttons := _buttons(view, may):
        blocks.append(Buttons(buttons=buttons))
    return Message(title=text(bold(f"Training {view.id}")), color=TONES[view.life], blocks=tuple(blocks))


def failure_words(rank: Rank) -> str:
    """`worker 3 on gpu-a04: exit code 137, OOMKilled: it used more memory than its limit and was killed`."""
    where = f" on {rank.node}" if rank.node else ""
    said = [f"exit code {rank.exit_code}"] if rank.exit_code is not None else []
    said += [rank.reason] if rank.reason and rank.reason != "Error" else []
    why = rank.why or exit_meaning(rank.exit_code, rank.reason)
    return f"{rank.role} {rank.index}{where}: {', '.join(said) or rank.phase}" + (f": {why}" if why else "")


def running(view: TrainingView) -> int:
    return sum(rank.phase == "Running" for rank in view.ranks)


def nodes_of(view: TrainingView) -> list[str]:
    return sorted({rank.node for rank in view.ranks if rank.node and rank.phase in ("Pending", "Running")})


def _ranks(view: TrainingView) -> Table:
    rows = tuple(
        (
            f"{rank.role} {rank.index}",
            rank.node or "–",
            rank.phase,
            f"{rank.gpus:g}",
            str(rank.restarts),
            "" if rank.exit_code is None else str(rank.exit_code),
            _cut(rank.why or rank.reason, 60),
        )
        for rank in sorted(view.ranks, key=lambda rank: (rank.phase == "Running", rank.role, rank.index))
    )
    return Table(
        heading=("rank", "node", "phase", "GPUs", "restarts", "exit", "why"),
        rows=rows[:RANKS_AT_MOST],
        more=max(0, len(rows) - RANKS_AT_MOST),
    )


def _events(view: TrainingView, inventory: Inventory, now: datetime, redactor: Redactor) -> list[Block]:
    if why := inventory.missing_reason(EVENTS):
        return [Context(text=text(f"Its events are not known: {why}"))]
    found = sorted(_events_of(view, inventory), key=lambda event: str(event.last_seen), reverse=True)
    # The same thing happens to every rank: it is told once, with how often.
    times: Counter[tuple[str, str]] = Counter()
    newest: dict[tuple[str, str], Event] = {}
    for event in found:
        key = (event.reason, event.message)
        times[key] += event.times
        newest.setdefault(key, event)
    lines = tuple(
        f"{age(event.last_seen, now)} ago  {event.reason}: {_cut(redactor.clean(event.message), 160)}"
        + (f" (x{times[key]})" if times[key] > 1 else "")
        for key, event in list(newest.items())[:EVENTS_AT_MOST]
    )
    return [Preformatted(lines=lines)] if lines else []


def _events_of(view: TrainingView, inventory: Inventory) -> list[Event]:
    pods = {rank.pod for rank in (*view.ranks, *view.failures)}
    tops = {workload.split("/", 1)[1] for workload in view.workloads}
    return [
        event
        for event in inventory.events.values()
        if event.involved_object.namespace == view.namespace
        and (
            view.has_namespace
            or event.involved_object.name in pods
            or f"{event.involved_object.kind}/{event.involved_object.name}" in tops
        )
    ]


def _buttons(view: TrainingView, may: Mapping[str, bool]) -> tuple[Button, ...]:
    buttons = []
    if may.get("training logs", False) and (view.ranks or view.failures):
        buttons.append(Button(label="Logs", line=f"training logs {view.id}"))
    if may.get("training stop", False) and view.workloads:
        label = "Clear away" if view.life.is_over else "Stop"
        buttons.append(Button(label=label, line=f"training stop {view.id}", style=ButtonStyle.DANGER))
    return tuple(buttons)


def _cut(words: str, longest: int) -> str:
    line = " ".join(words.split())
    return line if len(line) <= longest else line[: longest - 1] + "…"
