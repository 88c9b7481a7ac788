"""Rows of `training show` that are looked up: why it waits, its use of GPUs, its checkpoint, and links."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from alerts.cards.message import Attachment, Button, Message, Preformatted
from alerts.cards.suggested_actions import fill
from alerts.cards.text import Text, bold, text
from collectors.facts.redaction import Redactor
from collectors.facts.sentences import counted, sentence
from collectors.facts.subjects import Subject
from collectors.facts.workload_keys import shown_kind
from collectors.gpu_activity import Activity, IdleSearch
from collectors.trainings.training import Rank, Training, TrainingState
from commands.core.context import CommandContext
from commands.core.idle_detection import find_idle
from commands.core.lookups import age
from commands.core.pricing import checkpoint_of
from commands.training.failure_blocks import ShownFailure
from commands.training.training_runs import TrainingRun, UsualRun, run_of, runs_like, usual_run
from commands.training.why import look_why
from commands.training.why_card import why_rows
from commands.training.why_waiting import WAITING, WhyWaiting

_MOST_LINES = 120  # of JSON in the answer itself; the file has all


@dataclass(frozen=True, slots=True, kw_only=True)
class MoreOfTraining:
    """What is looked up for it. `idle` is None for one that holds no GPUs."""

    waiting: WhyWaiting | None = None
    idle: IdleSearch | None = None
    checkpoint: datetime | None = None
    links: Mapping[str, str] | None = None
    usual: UsualRun | None = None
    run: TrainingRun | None = None  # of one that has ended, as it was stored


async def look_up(training: Training, context: CommandContext) -> MoreOfTraining:
    """Ask the cluster and the metrics what is shown of the training. What does not answer is not known."""
    waiting = await look_why(training, context, asks_for_idle=False) if training.state in WAITING else None
    idle = None
    if training.gpus:
        idle = await find_idle(context.cluster, now=context.now, after=context.defaults.idle_after)
    checkpoint = None
    if training.state is TrainingState.RUNNING:
        checkpoint = await checkpoint_of(training, context.cluster, context.now)
    templates = context.defaults.links.get(context.cluster.name, {})
    subject = Subject(namespace=training.namespace, training=training.typed)
    links = {
        name: address for name, line in templates.items() if (address := fill(line, subject)) is not None
    }
    async with context.store.read() as snapshot:
        runs = await runs_like([training.shown], context.cluster.name, context.cluster.trainings(), snapshot)
        run = run_of(training, context.cluster.name)
        run = await snapshot.rows(TrainingRun).get(run.id) if run is not None else None
    usual = usual_run(training.shown, training.gpus_wanted, runs)
    return MoreOfTraining(
        waiting=waiting, idle=idle, checkpoint=checkpoint, links=links, usual=usual, run=run
    )


def more_rows(training: Training, more: MoreOfTraining, now: datetime) -> list[tuple[str, Text]]:
    rows: list[tuple[str, Text]] = why_rows(training, more.waiting, now) if more.waiting is not None else []
    if used := _used(training, more.idle):
        rows.append(("used", text(used)))
    if (hours := gpu_hours(training, now)) is not None:
        rows.append(("GPU-hours", text(f"{hours:.1f}")))
    if more.run is not None and more.run.peak_memory is not None:
        memory = sentence("{memory:.0f} GiB at most", memory=more.run.peak_memory / 1024)
        rows.append(("GPU memory", text(memory)))
    if more.usual is not None:
        rows.append(("usually", text(more.usual.text())))
    if training.state is TrainingState.RUNNING:
        saved = (
            sentence("not known")
            if more.checkpoint is None
            else sentence("{age} ago", age=age(more.checkpoint, now))
        )
        rows.append(("last checkpoint", text(saved)))
    return rows


def link_buttons(more: MoreOfTraining) -> tuple[Button, ...]:
    return tuple(Button(label=name, address=address) for name, address in (more.links or {}).items())


def gpu_hours(training: Training, now: datetime) -> float | None:
    """Return the GPU-hours so far: of all that it asks for, from its start to its end. None before its start."""
    if training.started is None or not training.gpus_wanted or training.state is TrainingState.QUEUED:
        return None
    return training.gpus_wanted * ((training.finished or now) - training.started).total_seconds() / 3600


def busy_gpus(training: Training, idle: IdleSearch | None) -> float | None:
    """Return how many of its GPUs compute; None where that is not known of one of them."""
    if idle is None or idle.blind:
        return None
    pods = [idle.pods.get((training.namespace, rank.pod)) for rank in training.ranks if rank.gpus]
    if any(pod is None or pod.activity is Activity.UNKNOWN for pod in pods):
        return None
    return sum(pod.count for pod in pods if pod is not None and pod.activity is not Activity.IDLE)


def _used(training: Training, idle: IdleSearch | None) -> str:
    if idle is None:
        return ""
    if idle.blind:
        return sentence("not known: {reason}", reason=idle.blind)
    busy = busy_gpus(training, idle)
    if busy is None:
        return sentence("not known: there are no samples of some of its GPUs")
    return counted(
        "{busy:g} of {count:g} GPU worked within {after}",
        "{busy:g} of {count:g} GPUs worked within {after}",
        count=training.gpus,
        busy=busy,
        after=idle.after,
    )


def as_json(
    training: Training, more: MoreOfTraining, failure: ShownFailure | None, now: datetime, redactor: Redactor
) -> Message:
    """Return the same as JSON: in the answer if it is short, and as a file."""
    tree = json.dumps(tree_of(training, more, failure, now), indent=2, ensure_ascii=False)
    whole = redactor.clean(tree, limit=1 << 18)
    lines = tuple(whole.splitlines())
    return Message(
        title=text(bold(sentence("Training {training}", training=training.shown))),
        blocks=(Preformatted(lines=lines[:_MOST_LINES]),),
        attachments=(Attachment(name=f"{training.name}.json", content=whole),),
    )


def tree_of(
    training: Training, more: MoreOfTraining, failure: ShownFailure | None, now: datetime
) -> dict[str, Any]:
    """Return what is shown, for programs: times in ISO 8601, what is not known as null."""
    waiting = more.waiting
    return {
        "name": training.shown,
        "key": training.id,
        "kind": shown_kind(training.kind),
        "state": training.state.value,
        "reason": training.reason,
        "owner": training.owner or None,
        "team": training.team or None,
        "queue": training.queue or None,
        "priority": training.priority or None,
        "managedBy": training.tool or None,
        "gpus": {
            "requested": training.gpus_wanted,
            "held": training.gpus,
            "busy": busy_gpus(training, more.idle),
            "hours": gpu_hours(training, now),
            "peakMemoryMiB": more.run.peak_memory if more.run is not None else None,
        },
        "ranks": {"wanted": training.wanted, "each": [_rank(rank) for rank in training.ranks]},
        "failure": _failure(failure) if failure is not None else None,
        "failures": [_rank(rank) for rank in training.failures],
        "waiting": _waiting(waiting) if waiting is not None else None,
        "usual": _usual(more.usual) if more.usual is not None else None,
        "progress": training.progress or None,
        "lastCheckpoint": _moment(more.checkpoint),
        "created": _moment(training.created),
        "started": _moment(training.started),
        "ended": _moment(training.finished),
        "links": dict(more.links or {}),
    }


def _waiting(waiting: WhyWaiting) -> dict[str, Any]:
    line = waiting.line
    return {
        "reasons": [{"kind": one.kind.value, "text": str(one.text)} for one in waiting.reasons],
        "queue": line.name or None,
        "before": [one.name for one in line.before] if line.before is not None else None,
        "start": _moment(waiting.start.at),
        "startIsBound": waiting.start.is_bound,
        "startBasis": str(waiting.start.basis),
        "helps": [str(one.text) for one in waiting.helps],
    }


def _usual(usual: UsualRun) -> dict[str, Any]:
    return {
        "runs": usual.runs,
        "medianSeconds": usual.half.total_seconds(),
        "p95Seconds": usual.most.total_seconds(),
    }


def _failure(failure: ShownFailure) -> dict[str, Any]:
    return {
        "first": _rank(failure.first) if failure.first is not None else None,
        "cause": failure.kind or None,
        "line": failure.line or None,
        "incident": failure.incident.id if failure.incident is not None else None,
    }


def _rank(rank: Rank) -> dict[str, Any]:
    return {
        "role": rank.role,
        "index": rank.index,
        "pod": rank.pod,
        "node": rank.node or None,
        "phase": rank.phase,
        "gpus": rank.gpus,
        "restarts": rank.restarts,
        "exitCode": rank.exit_code,
        "reason": rank.reason,
        "started": _moment(rank.started),
        "ended": _moment(rank.finished),
    }


def _moment(at: datetime | None) -> str | None:
    return at.isoformat() if at is not None else None
