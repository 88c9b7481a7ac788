"""The card of a confirmed plan, and its details."""

from collections.abc import Collection, Sequence
from datetime import timedelta

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
from alerts.cards.text import Text, bold, code, joined, markup, moment, person, text
from collectors.facts.sentences import counted, listed, sentence, word
from commands.execution.job_runs import JobRun
from commands.execution.plan import Plan, PlanState, StepRecord, StepState
from commands.execution.plan_gate import given_up_at
from commands.execution.preview import STEPS_SHOWN, decision, going_over
from commands.execution.steps import Step
from commands.execution.tools.rank_groups import group_blocks
from commands.execution.undoable import can_undo

LOG_LINES_SHOWN = 12  # of each Job's log, on the plan's card
LOGS_SHOWN = 4  # Jobs whose logs are shown
MIN_SHOWN_DURATION = timedelta(seconds=1)  # shorter plans finish at once
_MARKS = {
    StepState.WAITING: "○",
    StepState.RUNNING: "◔",
    StepState.DONE: "✓",
    StepState.FAILED: "✗",
    StepState.UNKNOWN: "?",
    StepState.SKIPPED: "–",
}
_IS_COMMON = {
    state: state not in (StepState.FAILED, StepState.UNKNOWN, StepState.RUNNING) for state in StepState
}


def card_of(
    plan: Plan,
    records: Sequence[StepRecord],
    runs: Sequence[JobRun] = (),
    *,
    settled: Collection[str] = (),
) -> Message:
    """Return the card of a confirmed plan: its progress, and how it ended. `settled` is that of `can_undo`."""
    tone, mark, state = {
        PlanState.PROPOSED: (Color.INFO, "○", "proposed"),
        PlanState.CONFIRMED: (Color.BUSY, "◔", "about to start"),
        PlanState.WAITING: (Color.WARNING, "◔", "waits"),
        PlanState.RUNNING: (Color.BUSY, "◔", "in progress"),
        PlanState.DONE: (Color.GOOD, "✓", "done"),
        PlanState.FAILED: (Color.CRITICAL, "✗", "failed"),
        PlanState.CANCELLED: (Color.QUIET, "–", "cancelled"),
    }[plan.state]
    if any(record.state is StepState.UNKNOWN for record in records):
        mark, state = "?", "not known whether it was done"
    blocks: list[Block] = []
    if plan.error:
        blocks.append(Paragraph(text=text(bold("Reason: "), markup(plan.error))))
    if plan.state is PlanState.WAITING:
        blocks.append(Paragraph(text=text(bold("Held back. "), markup(plan.held))))
        if plan.held_until is None and (at := given_up_at(plan)) is not None:
            until = sentence("If that lasts until {at}, it is cancelled and nothing is done.", at=at)
            blocks.append(Paragraph(text=text(until)))
    if plan.origin.why:
        blocks.append(Paragraph(text=text(bold("Why: "), markup(plan.origin.why))))
        if plan.notes:
            blocks.append(Paragraph(text=joined("\n", map(markup, plan.notes))))
    if plan.price and not plan.is_over:
        blocks.append(Paragraph(text=text(bold("At stake: "), markup(plan.price))))
    if said := group_blocks(plan, records):
        blocks += said
    else:
        lines = _step_lines(plan, records, at_most=STEPS_SHOWN)
        blocks.append(Paragraph(text=joined("\n", map(markup, lines))))
    blocks += _logs(runs, at_most=LOG_LINES_SHOWN)
    if buttons := _buttons(plan, records, settled):
        blocks.append(Buttons(buttons=buttons))
    blocks.append(Context(text=_who(plan)))
    title = text(f"{mark} ", listed((bold(plan.title), word(state)), ":"))
    return Message(title=title, color=tone, blocks=tuple(blocks))


def details(plan: Plan, records: Sequence[StepRecord], runs: Sequence[JobRun] = ()) -> Message:
    """Return everything known about a plan, for `plan show`."""
    rows: list[tuple[str, Text]] = [
        ("line", text(code(plan.line))),
        ("state", text(plan.state.value)),
        ("requested by", text(person(plan.actor, plan.actor_name), " ", moment(plan.created_at))),
    ]
    if plan.confirmed_at:
        rows.append(
            (
                "confirmed by",
                text(person(plan.confirmed_by, plan.confirmed_by_name), " ", moment(plan.confirmed_at)),
            )
        )
    if plan.state is PlanState.PROPOSED:
        rows.append(("hash", text(code(plan.hash))))
    if plan.disrupts:
        rows.append(("disrupts", text(listed(one.said for one in plan.disrupts))))
    if plan.stakes:
        rows.append(("at stake", text(listed((one.said for one in plan.stakes), ";"))))
    if plan.held:
        rows.append(("held back", text(plan.held)))
    if plan.over_budget:
        rows.append(("does not wait", text(plan.over_budget)))
    if plan.error:
        rows.append(("reason", text(plan.error)))
    if plan.undo_of:
        rows.append(("undoes", text(code(plan.undo_of))))
    if plan.undone_by:
        rows.append(("undone by", text(code(plan.undone_by))))
    blocks: list[Block] = [
        Fields(rows=tuple(rows)),
        _all_steps(plan, records),
        *_logs(runs, at_most=0),
    ]
    if buttons := _buttons(plan, records):
        blocks.append(Buttons(buttons=buttons))
    return Message(
        title=text(bold(sentence("Plan {plan}: {title}", plan=plan.id, title=plan.title))),
        blocks=tuple(blocks),
    )


def _buttons(plan: Plan, records: Sequence[StepRecord], settled: Collection[str] = ()) -> tuple[Button, ...]:
    if plan.state is PlanState.PROPOSED:
        return decision(plan)
    if plan.state is PlanState.WAITING:
        return (*going_over(plan), Button(label="Cancel", line=f"plan cancel {plan.id}"))
    if plan.state in (PlanState.CONFIRMED, PlanState.RUNNING):
        return (Button(label="Stop after this step", line=f"plan cancel {plan.id}"),)
    is_left = can_undo(plan, records, settled)
    return (Button(label="Undo", line=f"plan undo {plan.id}"),) if is_left else ()


def _logs(runs: Sequence[JobRun], *, at_most: int) -> list[Block]:
    """Return the last lines of the logs of the newest Jobs; 0: all lines."""
    newest = sorted((run for run in runs if run.log), key=lambda run: run.began_at)[-LOGS_SHOWN:]
    return [Preformatted(lines=tuple(run.log.splitlines()[-at_most:])) for run in newest]


def _all_steps(plan: Plan, records: Sequence[StepRecord]) -> Block:
    """Return every step; many are preformatted, which a channel attaches as a file rather than cut."""
    lines = _step_lines(plan, records, at_most=len(plan.steps))
    if len(lines) > STEPS_SHOWN:
        return Preformatted(lines=tuple(lines))
    return Paragraph(text=joined("\n", map(markup, lines)))


def _step_lines(plan: Plan, records: Sequence[StepRecord], *, at_most: int) -> list[str]:
    """Return a line for each step. Of many, those that people wait for come before those that are done or to come."""
    pairs = list(zip(plan.steps, records, strict=True))
    numbers = list(range(len(pairs)))
    if len(pairs) > at_most:
        notable = sorted(numbers, key=lambda number: (_IS_COMMON[records[number].state], number))
        numbers = sorted(notable[:at_most])
    lines = [_step_line(*pairs[number]) for number in numbers]
    if len(pairs) > at_most:
        done = sum(record.state is StepState.DONE for _, record in pairs)
        lines.append(
            counted(
                "… {count} more step; {done} of {steps} done",
                "… {count} more steps; {done} of {steps} done",
                count=len(pairs) - at_most,
                done=done,
                steps=len(pairs),
            )
        )
    return lines


def _step_line(step: Step, record: StepRecord) -> str:
    mark, outcome = _MARKS[record.state], record.outcome
    if record.state is StepState.FAILED or (outcome and outcome not in ("done", "created", "recorded")):
        return sentence("{mark} {step} ({outcome})", mark=mark, step=step.description, outcome=outcome)
    return sentence("{mark} {step}", mark=mark, step=step.description)


def _who(plan: Plan) -> Text:
    actor = person(plan.actor, plan.actor_name)
    parts = [text(code(plan.line)), text(actor)]
    if plan.confirmed_by and plan.confirmed_by != plan.actor:
        second = person(plan.confirmed_by, plan.confirmed_by_name)
        parts[1] = text(sentence("{who}, confirmed by {second}", who=actor, second=second))
    if plan.ended_at and plan.confirmed_at and plan.ended_at - plan.confirmed_at >= MIN_SHOWN_DURATION:
        parts.append(text(sentence("took {lasting}", lasting=plan.ended_at - plan.confirmed_at)))
    return joined(" · ", [*parts, text(sentence("plan `{plan}`", plan=plan.id))])
