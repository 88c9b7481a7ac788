"""This file shows launched trainings to their owners: the card, and the line each time they move on. Pure."""

from datetime import datetime

from alerts.telling.views import (
    Block,
    Button,
    Buttons,
    Paragraph,
    Quote,
    Small,
    Text,
    Tone,
    View,
    bold,
    code,
    moment,
    person,
    text,
)
from collectors.facts.durations import in_words
from collectors.trainings.views import Life, TrainingView
from commands.rows import Launch

_TONES = {
    Life.QUEUED: Tone.WARNING,
    Life.STARTING: Tone.BUSY,
    Life.RUNNING: Tone.BUSY,
    Life.SUSPENDED: Tone.QUIET,
    Life.SUCCEEDED: Tone.GOOD,
    Life.FAILED: Tone.CRITICAL,
    Life.STOPPED: Tone.QUIET,
}


def launch_view(launch: Launch, view: TrainingView | None, now: datetime) -> View:
    """The card of a launched training as it stands."""
    life = Life(launch.told) if launch.told else Life.STARTING
    blocks: list[Block] = [Paragraph(text=_state(launch, view, life, now))]
    if life is Life.FAILED and launch.last_lines:
        blocks.append(Quote(lines=launch.last_lines))
    if not life.is_over:
        blocks.append(Buttons(buttons=_buttons(launch)))
    foot = text("launched by ", person(launch.by, launch.by_name), " ", moment(launch.at))
    blocks.append(Small(text=text(foot, " · plan ", code(launch.plan)) if launch.plan else foot))
    title = text("Training ", bold(launch.training), f": {life.value}")
    return View(title=title, tone=_TONES[life], blocks=tuple(blocks))


def life_line(launch: Launch, view: TrainingView | None) -> Text:
    """What the owner is told when the training moves on."""
    life = Life(launch.told)
    why = f": {launch.told_reason}" if launch.told_reason else ""
    match life:
        case Life.QUEUED:
            return text(code(launch.training), f" is queued{why}")
        case Life.RUNNING:
            return text(code(launch.training), f" runs{_where(view)}.")
        case Life.FAILED:
            first = view.first_failure if view else None
            told = (
                f" First to fall: {first.role} {first.index} on {first.node or 'no node'}, {first.why}."
                if first
                else ""
            )
            return text(
                person(launch.by, launch.by_name), " ", code(launch.training), f" has failed{why}.{told}"
            )
        case Life.SUCCEEDED:
            return text(person(launch.by, launch.by_name), " ", code(launch.training), " has finished.")
        case Life.STARTING | Life.SUSPENDED | Life.STOPPED:
            return text(code(launch.training), f" is {life.value}{why}")


def _state(launch: Launch, view: TrainingView | None, life: Life, now: datetime) -> Text:
    if life is Life.QUEUED:
        return text(bold("Waits: "), launch.told_reason or "for the scheduler")
    if life is Life.FAILED:
        first = view.first_failure if view else None
        if first is not None:
            where = first.node or "no node"
            return text(bold("First to fall: "), code(first.pod), f" on {where}: {first.why}")
        return text(bold("Why: "), launch.told_reason or "not known")
    if view is None:
        return text(launch.told_reason)
    running = sum(rank.phase == "Running" for rank in view.ranks)
    since = f", since {in_words(now - view.started)}" if view.started and life is Life.RUNNING else ""
    return text(f"{running} of {view.wanted} ranks run, {view.gpus:g} GPUs{_where(view)}{since}")


def _where(view: TrainingView | None) -> str:
    nodes = sorted({rank.node for rank in view.ranks if rank.node}) if view else []
    if not nodes:
        return ""
    return f" on {', '.join(nodes[:4])}" + (f" and {len(nodes) - 4} more" if len(nodes) > 4 else "")


def _buttons(launch: Launch) -> tuple[Button, ...]:
    return (
        Button(label="Logs", line=f"training logs {launch.training}"),
        Button(label="Show", line=f"training show {launch.training}"),
        Button(label="Stop", line=f"training stop {launch.training}"),
    )
