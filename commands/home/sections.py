"""The sections of a person's page: each has a heading, its rows with their buttons, and how many are left out. Pure."""

from collections.abc import Iterable, Sequence

from alerts.cards.message import Block, Button, Buttons, ButtonStyle, Context, Paragraph
from alerts.cards.parent_words import headline_of_any
from alerts.cards.text import Text, bold, code, person, text
from alerts.incidents.incident import Incident
from alerts.parents.parent_incident import ParentIncident
from alerts.rules import Severity
from collectors.facts.sentences import Argument, Sentence, counted, listed, sentence, word
from collectors.trainings.training import Training, TrainingState
from commands.core.cordoned_nodes import uncordon_button
from commands.core.request import Actor
from commands.execution.plan import Plan, PlanState, Risk
from commands.gpu.consent_card import consent_reminder
from commands.gpu.reclaim_card import answer_buttons
from commands.models import CordonLease, ReclaimRequest
from commands.training.past_failures import PastFailure, failure_lines

SHOWN = 5  # of each kind: the page of a chat has a limit
_MARKS = {Severity.CRITICAL: "🔴", Severity.WARNING: "🟠", Severity.INFO: "🔵"}


def open_incident_blocks(incidents: Sequence[Incident | ParentIncident], me: Actor) -> list[Block]:
    """Return the open incidents: those that nobody has first, the worst first."""
    if not incidents:
        return [
            _heading("Open incidents"),
            Context(text=text("None. No alert needs attention.")),
        ]
    ordered = sorted(
        incidents, key=lambda one: (bool(one.acknowledged_by), -one.severity.rank, one.opened_at)
    )
    blocks: list[Block] = [_heading(sentence("Open incidents: {number}", number=len(incidents)))]
    for incident in ordered[:SHOWN]:
        blocks.append(Paragraph(text=_incident(incident, me)))
        show = Button(label="Show", line=f"incident show {incident.id}")
        ack = Button(label="Acknowledge", line=f"alert ack {incident.id}", style=ButtonStyle.PRIMARY)
        blocks.append(Buttons(buttons=(show,) if incident.acknowledged_by else (ack, show)))
    return [*blocks, *_more(len(incidents), "incident list")]


def _incident(incident: Incident | ParentIncident, me: Actor) -> Text:
    since = sentence("since {at}", at=incident.opened_at)
    title = text(f"{_MARKS[incident.severity]} ", bold(headline_of_any(incident)))
    said = text(title, "\n", code(incident.id), " · ", since)
    if me.is_one(incident.acknowledged_by):
        return text(said, " · ", sentence("acknowledged by you"))
    if incident.acknowledged_by:
        who = person(incident.acknowledged_by, incident.acknowledged_by_name)
        return text(said, " · ", sentence("acknowledged by {who}", who=who))
    return said


def waiting_for(
    me: Actor, *, plans: Iterable[Plan], reclaims: Iterable[ReclaimRequest], leases: Iterable[CordonLease]
) -> list[Block]:
    """Return what this person has to answer: plans to confirm, requests about idle GPUs, cordons past their end."""
    blocks: list[Block] = []
    for reclaim in reclaims:
        if me.is_one(reclaim.owner_id):
            asked = (
                consent_reminder(reclaim)
                if reclaim.for_plan
                else counted(
                    "{count:g} GPU of `{training}` is idle. Answer by {at}.",
                    "{count:g} GPUs of `{training}` are idle. Answer by {at}.",
                    count=reclaim.gpus,
                    training=reclaim.shown,
                    at=reclaim.grace_until,
                )
            )
            blocks.append(Paragraph(text=text(asked)))
            blocks.append(Buttons(buttons=answer_buttons(reclaim)))
    for plan in plans:
        blocks.append(Paragraph(text=text(_unconfirmed(plan, me))))
        show = Button(label="Show the plan", line=f"plan show {plan.id}")
        cancel = Button(label="Cancel", line=f"plan cancel {plan.id}")
        blocks.append(Buttons(buttons=(show, cancel) if me.is_one(plan.actor) else (show,)))
    for lease in leases:
        blocks.append(Paragraph(text=_past_its_end(lease)))
        blocks.append(Buttons(buttons=(uncordon_button(lease.node, is_lifted=lease.lifted_at is not None),)))
    if not blocks:
        return [_heading("Waiting for you"), Context(text=text("Nothing."))]
    return [_heading("Waiting for you"), *blocks[: 4 * SHOWN]]


def _unconfirmed(plan: Plan, me: Actor) -> Sentence:
    title = bold(plan.title)
    if plan.state is PlanState.WAITING:
        return sentence("{title} is held back. {reason}", title=title, reason=plan.held)
    if not me.is_one(plan.actor):
        who = person(plan.actor, plan.actor_name)
        return sentence(
            "{title} of {who} waits to be confirmed until {at}.", title=title, who=who, at=plan.expires_at
        )
    if plan.risk is Risk.BREAK and not plan.alone:
        return sentence("{title} waits for a second person until {at}.", title=title, at=plan.expires_at)
    return sentence("{title} waits to be confirmed until {at}.", title=title, at=plan.expires_at)


def failed_trainings(failures: Sequence[PastFailure], trainings: Sequence[Training]) -> list[Block]:
    """Return a person's trainings that failed within a day and do not run again, and why."""
    again = {one.id for one in trainings if not one.state.is_over}
    over = [failure for failure in failures if failure[0].training not in again]
    if not over:
        return []
    blocks: list[Block] = [_heading(sentence("Your trainings that failed: {number}", number=len(over)))]
    for notice, cause in over[:SHOWN]:
        blocks.append(Paragraph(text=failure_lines((notice, cause))))
        buttons = [Button(label="Show", line=f"training show {notice.typed}")]
        if cause is not None:
            label = sentence("Show {incident}", incident=cause.id)
            buttons.append(Button(label=label, line=f"incident show {cause.id}"))
        blocks.append(Buttons(buttons=tuple(buttons)))
    return [*blocks, *_more(len(over), "training list --mine --all")]


def trainings_of(trainings: Sequence[Training]) -> list[Block]:
    """Return a person's trainings that have not ended, and the GPUs that they hold."""
    live = [one for one in trainings if not one.state.is_over]
    if not live:
        return [_heading("Your trainings"), Context(text=text("None."))]
    live.sort(key=lambda one: (one.state is TrainingState.RUNNING, -one.gpus_wanted, one.shown))
    gpus = sum(one.gpus for one in live)
    blocks: list[Block] = [
        _heading(
            counted(
                "Your trainings: {number}, with {count:g} GPU",
                "Your trainings: {number}, with {count:g} GPUs",
                number=len(live),
                count=gpus,
            )
        )
    ]
    for training in live[:SHOWN]:
        said = counted(
            "`{training}` {state}, {count:g} GPU",
            "`{training}` {state}, {count:g} GPUs",
            training=training.shown,
            state=word(training.state.value),
            count=training.gpus,
        )
        blocks.append(Paragraph(text=text(listed(filter(None, (said, training.reason)), ":"))))
        show = Button(label="Show", line=f"training show {training.typed}")
        logs = Button(label="Logs", line=f"training logs {training.typed}")
        blocks.append(Buttons(buttons=(show, logs)))
    return [*blocks, *_more(len(live), "training list")]


def leases_of(leases: Sequence[CordonLease]) -> list[Block]:
    """Return the nodes that a person keeps cordoned."""
    if not leases:
        return []
    blocks: list[Block] = [_heading("Your cordons")]
    for lease in sorted(leases, key=lambda one: one.node)[:SHOWN]:
        said: list[Argument] = [listed([code(lease.node), *filter(None, [lease.reason])], ":")]
        if lease.until:
            said.append(sentence("until {at}", at=lease.until))
        if lease.lifted_at is not None:
            said.append(sentence("lifted by somebody else"))
        blocks.append(Paragraph(text=text(listed(said))))
        blocks.append(Buttons(buttons=(uncordon_button(lease.node, is_lifted=lease.lifted_at is not None),)))
    return [*blocks, *_more(len(leases), "node list --cordoned")]


def _past_its_end(lease: CordonLease) -> Text:
    if lease.lifted_at is not None:
        return text(
            sentence(
                "Somebody else lifted your cordon of `{node}`, but its lease is still there.", node=lease.node
            )
        )
    return text(sentence("Your cordon of `{node}` is past its end.", node=lease.node))


def _heading(words: str) -> Paragraph:
    return Paragraph(text=text(bold(words)))


def _more(count: int, line: str) -> list[Block]:
    if count <= SHOWN:
        return []
    return [Context(text=text(sentence("and {number} more: `{line}`", number=count - SHOWN, line=line)))]
