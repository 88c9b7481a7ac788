"""The sections of a person's page: each has a heading, its rows with their buttons, and how many are left out. Pure."""

from collections.abc import Iterable, Sequence

from alerts.cards.headline import headline
from alerts.cards.message import Block, Button, Buttons, ButtonStyle, Context, Paragraph
from alerts.cards.text import Text, bold, code, moment, person, text
from alerts.incidents.incident import Incident
from alerts.rules import Severity
from collectors.trainings.training import Training, TrainingState
from commands.core.request import Actor
from commands.execution.plan import Plan, Risk
from commands.gpu.reclaim_card import answer_buttons
from commands.models import CordonLease, ReclaimRequest

SHOWN = 5  # of each kind: the page of a chat has a limit
_MARKS = {Severity.CRITICAL: "🔴", Severity.WARNING: "🟠", Severity.INFO: "🔵"}


def open_incident_blocks(incidents: Sequence[Incident], me: Actor) -> list[Block]:
    """Return the open incidents: those that nobody has first, the worst first."""
    if not incidents:
        return [
            _heading("Open incidents"),
            Context(text=text("None. Nothing fires that calls for somebody.")),
        ]
    ordered = sorted(
        incidents, key=lambda one: (bool(one.acknowledged_by), -one.severity.rank, one.opened_at)
    )
    blocks: list[Block] = [_heading(f"Open incidents: {len(incidents)}")]
    for incident in ordered[:SHOWN]:
        blocks.append(Paragraph(text=_incident(incident, me)))
        show = Button(label="Show", line=f"incident show {incident.id}")
        ack = Button(label="Acknowledge", line=f"alert ack {incident.id}", style=ButtonStyle.PRIMARY)
        blocks.append(Buttons(buttons=(show,) if incident.acknowledged_by else (ack, show)))
    return [*blocks, *_more(len(incidents), "incident list")]


def _incident(incident: Incident, me: Actor) -> Text:
    said = text(
        f"{_MARKS[incident.severity]} ", bold(headline(incident)), "\n", code(incident.id), " · since "
    )
    said = text(said, moment(incident.opened_at))
    if me.is_one(incident.acknowledged_by):
        return text(said, " · acknowledged by you")
    if incident.acknowledged_by:
        return text(
            said, " · acknowledged by ", person(incident.acknowledged_by, incident.acknowledged_by_name)
        )
    return said


def waiting_for(
    me: Actor, *, plans: Iterable[Plan], reclaims: Iterable[ReclaimRequest], leases: Iterable[CordonLease]
) -> list[Block]:
    """Return what this person has to answer: plans to confirm, requests about idle GPUs, cordons past their end."""
    blocks: list[Block] = []
    for reclaim in reclaims:
        if me.is_one(reclaim.owner_id):
            asked = text(f"{reclaim.gpus:g} GPUs of ", code(reclaim.shown), " are idle. Answer until ")
            blocks.append(Paragraph(text=text(asked, moment(reclaim.grace_until), ".")))
            blocks.append(Buttons(buttons=answer_buttons(reclaim)))
    for plan in plans:
        is_for_another = plan.risk is Risk.BREAK
        if me.is_one(plan.actor) is not is_for_another:
            who = text(" of ", person(plan.actor, plan.actor_name)) if is_for_another else ()
            said = text(bold(plan.title), who, " waits to be confirmed until ", moment(plan.expires_at), ".")
            blocks.append(Paragraph(text=said))
            show = Button(label="Show the plan", line=f"plan show {plan.id}")
            cancel = Button(label="Cancel", line=f"plan cancel {plan.id}")
            blocks.append(Buttons(buttons=(show,) if is_for_another else (show, cancel)))
    for lease in leases:
        blocks.append(Paragraph(text=_past_its_end(lease)))
        blocks.append(_uncordon(lease))
    if not blocks:
        return [_heading("Waits for you"), Context(text=text("Nothing."))]
    return [_heading("Waits for you"), *blocks[: 4 * SHOWN]]


def trainings_of(trainings: Sequence[Training]) -> list[Block]:
    """Return a person's trainings that have not ended, and the GPUs that they hold."""
    live = [one for one in trainings if not one.state.is_over]
    if not live:
        return [_heading("Your trainings"), Context(text=text("None."))]
    live.sort(key=lambda one: (one.state is TrainingState.RUNNING, -one.gpus_wanted, one.shown))
    gpus = sum(one.gpus for one in live)
    blocks: list[Block] = [_heading(f"Your trainings: {len(live)}, with {gpus:g} GPUs")]
    for training in live[:SHOWN]:
        reason = f": {training.reason}" if training.reason else ""
        said = text(code(training.shown), f" {training.state.value}, {training.gpus:g} GPUs{reason}")
        blocks.append(Paragraph(text=said))
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
        reason = f": {lease.reason}" if lease.reason else ""
        until = text(", until ", moment(lease.until)) if lease.until else ()
        lifted = ", lifted by somebody else" if lease.lifted_at is not None else ""
        blocks.append(Paragraph(text=text(code(lease.node), reason, until, lifted)))
        blocks.append(_uncordon(lease))
    return [*blocks, *_more(len(leases), "node list --cordoned")]


def _past_its_end(lease: CordonLease) -> Text:
    if lease.lifted_at is not None:
        return text("Somebody else lifted your cordon of ", code(lease.node), ", and its lease is left.")
    return text("Your cordon of ", code(lease.node), " is past its end.")


def _uncordon(lease: CordonLease) -> Buttons:
    label = f"Uncordon {lease.node}" if lease.lifted_at is None else "Remove its record"
    return Buttons(buttons=(Button(label=label, line=f"node uncordon {lease.node}"),))


def _heading(words: str) -> Paragraph:
    return Paragraph(text=text(bold(words)))


def _more(count: int, line: str) -> list[Block]:
    return [Context(text=text(f"and {count - SHOWN} more: ", code(line)))] if count > SHOWN else []
