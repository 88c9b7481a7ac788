"""This file shows plans: the preview before, the card while it runs and after."""

from datetime import timedelta

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
    Text,
    bold,
    code,
    joined,
    markup,
    moment,
    person,
    text,
)
from collectors.facts.clock import in_words
from commands.plans.plan import Plan, PlanState, Risk, StepRecord, StepState, inverse_of
from commands.plans.steps import Step

STEPS_SHOWN = 12
WORTH_SAYING = timedelta(seconds=1)  # a deed that took less was done at once
_MARKS = {
    StepState.WAITING: "○",
    StepState.RUNNING: "◔",
    StepState.DONE: "✓",
    StepState.FAILED: "✗",
    StepState.SKIPPED: "–",
}


def preview(plan: Plan, *, also: tuple[Button, ...] = ()) -> Message:
    """What will be done, whom it hurts, and the buttons to confirm or leave it."""
    blocks: list[Block] = []
    if plan.disrupts:
        blocks.append(
            Paragraph(text=text(bold("Takes down: "), ", ".join(plan.disrupts[:8]), _more(plan.disrupts, 8)))
        )
    blocks.append(Paragraph(text=_will(plan)))
    if plan.notes:
        blocks.append(Paragraph(text=joined("\n", (text("• ", markup(note)) for note in plan.notes))))
    needs_second = plan.risk is Risk.BREAK
    if needs_second:
        blocks.append(Paragraph(text=text("A second person who may do this has to confirm it.")))
    confirm = Button(
        label="Confirm",
        line=f"plan confirm {plan.id} --hash {plan.hash}",
        style=ButtonStyle.DANGER if needs_second or plan.disrupts else ButtonStyle.PRIMARY,
    )
    blocks.append(Buttons(buttons=(confirm, Button(label="Cancel", line=f"plan cancel {plan.id}"), *also)))
    blocks.append(
        Context(
            text=text(
                "Nothing is done yet · ", code(plan.line), f" · on {plan.cluster} · plan ", code(plan.id)
            )
        )
    )
    return Message(
        title=text(bold(f"{plan.title}?")),
        color=Color.WARNING if plan.disrupts else Color.INFO,
        blocks=tuple(blocks),
    )


def _will(plan: Plan) -> Text:
    """The steps in words, numbered where there are several."""
    shown = [step.description for step in plan.steps[:STEPS_SHOWN]]
    if len(plan.steps) == 1:
        return text(bold("It will "), shown[0])
    lines = [f"{number}. {says}" for number, says in enumerate(shown, start=1)]
    if len(plan.steps) > len(shown):
        lines.append(f"… {len(plan.steps) - len(shown)} more steps: `plan show {plan.id}`")
    return text(bold("It will"), "\n", joined("\n", map(markup, lines)))


def card_of(plan: Plan) -> Message:
    """The card of a confirmed plan: how far it is, and how it ended."""
    tone, mark, word = {
        PlanState.PROPOSED: (Color.INFO, "○", "proposed"),
        PlanState.CONFIRMED: (Color.BUSY, "◔", "about to begin"),
        PlanState.RUNNING: (Color.BUSY, "◔", "being done"),
        PlanState.DONE: (Color.GOOD, "✓", "done"),
        PlanState.FAILED: (Color.CRITICAL, "✗", "failed"),
        PlanState.CANCELLED: (Color.QUIET, "–", "cancelled"),
    }[plan.state]
    blocks: list[Block] = []
    if plan.error:
        blocks.append(Paragraph(text=text(bold("Why: "), markup(plan.error))))
    blocks.append(Paragraph(text=text("\n".join(_step_lines(plan)))))
    if buttons := _buttons(plan):
        blocks.append(Buttons(buttons=buttons))
    blocks.append(Context(text=_who(plan)))
    return Message(title=text(f"{mark} ", bold(plan.title), f": {word}"), color=tone, blocks=tuple(blocks))


def details(plan: Plan) -> Message:
    """All that is known of a plan, for `plan show`."""
    rows: list[tuple[str, Text]] = [
        ("line", text(code(plan.line))),
        ("state", text(plan.state.value)),
        ("asked by", text(person(plan.actor, plan.actor_name), " ", moment(plan.created_at))),
    ]
    if plan.confirmed_at:
        rows.append(("confirmed by", text(person(plan.confirmed_by), " ", moment(plan.confirmed_at))))
    if plan.disrupts:
        rows.append(("takes down", text(", ".join(plan.disrupts))))
    if plan.error:
        rows.append(("trouble", text(plan.error)))
    if plan.undo_of:
        rows.append(("undoes", text(code(plan.undo_of))))
    if plan.undone_by:
        rows.append(("undone by", text(code(plan.undone_by))))
    blocks: list[Block] = [
        Fields(rows=tuple(rows)),
        Preformatted(lines=tuple(_step_lines(plan, at_most=len(plan.steps)))),
    ]
    if buttons := _buttons(plan):
        blocks.append(Buttons(buttons=buttons))
    return Message(title=text(bold(f"Plan {plan.id}: {plan.title}")), blocks=tuple(blocks))


def can_undo(plan: Plan) -> bool:
    """Whether something was done that has an inverse, and nobody has undone it."""
    pairs = zip(plan.steps, plan.records, strict=True)
    return (
        plan.has_ended
        and not plan.undone_by
        and any(inverse_of(step, record) is not None for step, record in pairs)
    )


def _buttons(plan: Plan) -> tuple[Button, ...]:
    if plan.state in (PlanState.CONFIRMED, PlanState.RUNNING):
        return (Button(label="Stop after this step", line=f"plan cancel {plan.id}"),)
    return (Button(label="Undo", line=f"plan undo {plan.id}"),) if can_undo(plan) else ()


def _step_lines(plan: Plan, at_most: int = STEPS_SHOWN) -> list[str]:
    pairs = list(zip(plan.steps, plan.records, strict=True))
    lines = [_step_line(step, record) for step, record in pairs[:at_most]]
    if len(pairs) > at_most:
        done = sum(record.state is StepState.DONE for _, record in pairs)
        lines.append(f"… {len(pairs) - at_most} more steps; {done} of {len(pairs)} done")
    return lines


def _step_line(step: Step, record: StepRecord) -> str:
    told = f"{_MARKS[record.state]} {step.description}"
    if record.state is StepState.FAILED or (
        record.outcome and record.outcome not in ("done", "created", "recorded")
    ):
        told += f" ({record.outcome})"
    return told


def _who(plan: Plan) -> Text:
    parts = text(code(plan.line), " · ", person(plan.actor, plan.actor_name))
    if plan.confirmed_by and plan.confirmed_by != plan.actor:
        parts = text(parts, ", confirmed by ", person(plan.confirmed_by))
    if plan.ended_at and plan.confirmed_at and plan.ended_at - plan.confirmed_at >= WORTH_SAYING:
        parts = text(parts, " · took ", in_words(plan.ended_at - plan.confirmed_at))
    return text(parts, " · plan ", code(plan.id))


def _more(names: tuple[str, ...], shown: int) -> str:
    return f" and {len(names) - shown} more" if len(names) > shown else ""
