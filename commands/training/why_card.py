"""The answer of `training why`: the reasons, the queue, the start, and what would help. Pure."""

from collections.abc import Mapping
from datetime import datetime

from alerts.cards.message import Block, Button, Buttons, Color, Context, Fields, Message, Paragraph
from alerts.cards.text import Text, bold, joined, markup, text
from collectors.facts.sentences import Sentence, counted, listed, sentence
from collectors.trainings.training import Training
from commands.core.lookups import age
from commands.training.queue_line import QueueLine, Waiter
from commands.training.start_time import StartTime
from commands.training.why_waiting import WhyWaiting

_REASONS = 5
_NAMED = 4


def why_card(training: Training, found: WhyWaiting, now: datetime, *, may: Mapping[str, bool]) -> Message:
    blocks: list[Block] = [_reasons(found), Fields(rows=tuple(why_rows(training, found, now)))]
    if found.helps:
        helps = (text("• ", markup(one.text)) for one in found.helps)
        blocks.append(Paragraph(text=text(bold("What would help:"), "\n", joined("\n", helps))))
    if buttons := _buttons(training, found, may):
        blocks.append(Buttons(buttons=buttons))
    blocks += [Context(text=text("⚠ ", words)) for words in found.unseen]
    return Message(
        title=text(bold(sentence("Why {training} waits", training=training.shown))),
        color=Color.BUSY,
        blocks=tuple(blocks),
    )


def why_rows(training: Training, found: WhyWaiting, now: datetime) -> list[tuple[str, Text]]:
    """Return the rows about its queue and its start, which `training show` has as well."""
    line = found.line
    rows: list[tuple[str, Text]] = []
    if line.system:
        rows.append(("queue", text(queue_text(line))))
    if training.created is not None:
        rows.append(("waits for", text(age(training.created, now))))
    rows.append(("before it", text(_before(line))))
    if line.holders:
        held = sum(one.gpus for one in line.holders)
        names = listed((one.shown for one in line.holders), most=_NAMED)
        rows.append(
            (
                "in use by",
                text(
                    counted(
                        "{trainings}, with {count:g} GPU",
                        "{trainings}, with {count:g} GPUs",
                        count=held,
                        trainings=names,
                    )
                ),
            )
        )
    rows.append(("starts", text(start_text(found.start))))
    return rows


def queue_text(line: QueueLine) -> str:
    if line.size is None:
        return sentence("{queue} of {system}", queue=line.name, system=line.system)
    used = sentence("unknown") if line.used is None else f"{line.used:g}"
    return sentence(
        "{queue} of {system}: {used} of {size:g} GPUs in use",
        queue=line.name,
        system=line.system,
        used=used,
        size=line.size,
    )


def start_text(start: StartTime) -> str:
    """Return when it starts and from what that is known, or that it is not known and why."""
    if start.at is None:
        return sentence("not known: {why}", why=start.basis)
    if start.is_bound:
        return sentence("{at} at the latest, unless others pass: {why}", at=start.at, why=start.basis)
    return sentence("probably about {at}: {why}", at=start.at, why=start.basis)


def _reasons(found: WhyWaiting) -> Paragraph:
    first, *others = found.reasons[:_REASONS]
    lines = [text(bold("Reason: "), first.text), *(text("• ", one.text) for one in others)]
    return Paragraph(text=joined("\n", lines))


def _before(line: QueueLine) -> Sentence:
    if line.before is None:
        return sentence("not known")
    if not line.before:
        return sentence("nobody ({order})", order=line.order)
    return sentence(
        "{trainings} ({order})", trainings=listed(map(_waiter, line.before), most=_NAMED), order=line.order
    )


def _waiter(one: Waiter) -> str:
    if one.gpus is None:
        return one.name
    return counted("{name} with {count:g} GPU", "{name} with {count:g} GPUs", name=one.name, count=one.gpus)


def _buttons(training: Training, found: WhyWaiting, may: Mapping[str, bool]) -> tuple[Button, ...]:
    buttons = [
        Button(label=one.label, line=one.line)
        for one in found.helps
        if one.label and one.line and may.get(" ".join(one.line.split()[:2]), False)
    ]
    return (*buttons, Button(label="Details", line=f"training show {training.typed}"))
