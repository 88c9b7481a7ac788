"""The message to the owner of a training and their team: that it failed, or holds GPUs and cannot compute. Pure."""

from alerts.cards.message import (
    Block,
    Button,
    Buttons,
    Color,
    Context,
    Fields,
    Message,
    Paragraph,
    Preformatted,
)
from alerts.cards.text import Text, bold, moment, person, text
from alerts.incidents.incident import Incident
from collectors.facts.one_line import some_of
from collectors.facts.sentences import counted, listed, sentence
from commands.models import TrainingNotice
from commands.training.failure_blocks import failure_blocks, failure_of_row

LINES_SHOWN = 12
NODES_SHOWN = 4


def notice_card(
    notice: TrainingNotice,
    *,
    cause: Incident | None = None,
    again: Button | None = None,
    ended: bool = False,
    mentions: bool = True,
) -> Message:
    """Return the message. `cause` is what may have killed it, and `again` launches it where that is not.

    `ended`: it computes again, or is gone. `mentions`: whether it mentions the owner, who has no direct message.
    """
    rows: list[tuple[str, Text]] = [("owner", _owner(notice, mentions=mentions))]
    if notice.gpus:
        gpus = counted("{count:g} GPU", "{count:g} GPUs", count=notice.gpus)
        on = some_of(notice.nodes, NODES_SHOWN)
        rows.append(("GPUs", text(sentence("{gpus} on {nodes}", gpus=gpus, nodes=on) if on else gpus)))
    rows.append(("since", text(moment(notice.at))))
    blocks: list[Block] = [*_reasons(notice, cause), Fields(rows=tuple(rows))]
    if notice.last_lines and cause is None:
        blocks.append(Preformatted(lines=notice.last_lines[-LINES_SHOWN:]))
    if ended:
        blocks.append(Context(text=text(sentence("This is over."))))
    blocks.append(Buttons(buttons=_buttons(notice, cause, again)))
    mark, color = ("✗", Color.CRITICAL) if notice.has_failed else ("🟠", Color.WARNING)
    if ended:
        mark, color = "✓", Color.QUIET
    return Message(
        title=text(f"{mark} ", bold(_title(notice))),
        color=color,
        blocks=tuple(blocks),
    )


def _title(notice: TrainingNotice) -> str:
    if notice.has_failed:
        return sentence("Training {training} has failed", training=notice.name)
    return notice.summary


def _reasons(notice: TrainingNotice, cause: Incident | None) -> list[Block]:
    shown = failure_of_row(notice, cause, notice.failures)
    blocks = failure_blocks(shown)
    if shown.first is None and notice.texts:
        blocks.append(Paragraph(text=text(listed(notice.texts, ";"))))
    return blocks


def _owner(notice: TrainingNotice, *, mentions: bool) -> Text:
    owner: Text = text(notice.owner or sentence("unknown"))
    if notice.owner_id and mentions:
        owner = text(person(notice.owner_id, notice.owner))
    return text(sentence("{owner}, team {team}", owner=owner, team=notice.team)) if notice.team else owner


def _buttons(notice: TrainingNotice, cause: Incident | None, again: Button | None) -> tuple[Button, ...]:
    buttons = [Button(label="Details", line=f"training show {notice.typed}")]
    if notice.has_failed:
        buttons.append(Button(label="Logs", line=f"training logs {notice.typed}"))
    else:
        buttons.append(Button(label="Show idle GPUs", line="gpu idle"))
    if cause is not None:
        label = sentence("Show {incident}", incident=cause.id)
        buttons.append(Button(label=label, line=f"incident show {cause.id}"))
    return (again, *buttons) if again is not None else tuple(buttons)
