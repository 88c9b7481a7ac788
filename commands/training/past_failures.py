"""Failures of trainings that people still ask about: those of the last day, also of trainings that are gone."""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

from alerts.cards.message import Block, Button, Buttons, Color, Fields, Message, Paragraph
from alerts.cards.text import Text, bold, code, joined, moment, text
from alerts.incidents.incident import Incident
from alerts.store import Between, StoreSnapshot
from collectors.facts.sentences import listed, sentence
from commands.models import TrainingNotice
from commands.training.failure_blocks import failure_of_row, failure_texts
from commands.training.failure_cause import cause_of, death_of_notice

REMEMBERED_FOR = timedelta(days=1)

PastFailure = tuple[TrainingNotice, Incident | None]  # with the incident that caused it


async def recent_failures(cluster: str, snapshot: StoreSnapshot, now: datetime) -> Sequence[TrainingNotice]:
    """Return the last failure of each training within a day, the latest first."""
    since = Between(start=now - REMEMBERED_FOR)
    found = await snapshot.rows(TrainingNotice).find(cluster=cluster, at=since)
    latest = {one.training: one for one in sorted(found, key=lambda one: one.at) if one.has_failed}
    return sorted(latest.values(), key=lambda one: one.at, reverse=True)


async def with_causes(notices: Iterable[TrainingNotice], snapshot: StoreSnapshot) -> list[PastFailure]:
    return [(one, await cause_of(death_of_notice(one), snapshot)) for one in notices]


def failure_named(name: str, notices: Iterable[TrainingNotice]) -> TrainingNotice | None:
    """Return the failure of the training that people mean by this name."""
    names = {key: one for one in reversed(list(notices)) for key in _names(one)}
    return names.get(name)


def _names(notice: TrainingNotice) -> tuple[str, ...]:
    return notice.name.partition("/")[2], notice.name, notice.typed, notice.training


def gone_details(failure: PastFailure) -> Message:
    """Return the details of a training that failed and no longer exists."""
    notice, cause = failure
    owner = notice.owner or sentence("unknown")
    rows: list[tuple[str, Text]] = [
        ("state", text(sentence("failed, and no longer in the cluster"))),
        ("owner", text(owner)),
        ("ended", text(moment(notice.at))),
    ]
    if cause is not None:
        rows.append(("incident", text(code(cause.id))))
    blocks: list[Block] = [Fields(rows=tuple(rows)), Paragraph(text=_why(failure))]
    if cause is not None:
        label = sentence("Show {incident}", incident=cause.id)
        blocks.append(Buttons(buttons=(Button(label=label, line=f"incident show {cause.id}"),)))
    title = text(bold(sentence("Training {training}", training=notice.name)))
    return Message(title=title, color=Color.CRITICAL, blocks=tuple(blocks))


def failure_lines(failure: PastFailure) -> Text:
    """Return when a training failed and why."""
    notice, _ = failure
    failed = sentence("`{training}` failed {at}", training=notice.name, at=notice.at)
    return text(failed, "\n", _why(failure))


def _why(failure: PastFailure) -> Text:
    notice, cause = failure
    shown = failure_of_row(notice, cause, notice.failures)
    said = failure_texts(shown) if shown.is_known else [text(listed(notice.texts, ";") or "–")]
    if shown.line:
        said.append(text(code(shown.line)))
    return joined("\n", said)
