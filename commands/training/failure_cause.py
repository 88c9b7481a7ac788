"""What may have killed a training besides its own code: the incident of the node where its first task failed."""

from collections.abc import Iterable
from datetime import datetime, timedelta

from alerts.cards.headline import headline
from alerts.cards.message import Button
from alerts.cards.text import Text, bold, text
from alerts.incidents.impacts import JOINS_WITHIN
from alerts.incidents.incident import Incident
from alerts.rules import ImpactScope, Severity
from alerts.store import StoreSnapshot
from collectors.facts.sentences import sentence
from collectors.trainings.training import Rank
from commands.execution.plan import Plan
from commands.models import Launch

LINE = "training launch "
LOOKED_AT_FOR = timedelta(minutes=10)  # after a failure: its node's incident may be opened later


def suspected_node(first: Rank | None) -> str:
    """Return the node of the first failure. A task that exceeded its own memory limit has itself to blame."""
    return first.node if first is not None and first.reason != "OOMKilled" else ""


async def cause_of(
    launch: Launch, snapshot: StoreSnapshot, *, together: Iterable[str] = ()
) -> Incident | None:
    """Return the critical incident of a node where one of the launch's first tasks failed, around that time.

    `together`: the nodes of the tasks that failed together, where the training still exists.
    """
    if not launch.failed_on or launch.failed_at is None:
        return None
    for node in dict.fromkeys((launch.failed_on, *together)):
        if (incident := await _incident_of(node, launch, launch.failed_at, snapshot)) is not None:
            return incident
    return None


async def _incident_of(
    node: str, launch: Launch, failed_at: datetime, snapshot: StoreSnapshot
) -> Incident | None:
    found = await snapshot.rows(Incident).find(
        cluster=launch.cluster, group_key=f"node/{node}", newest=True, limit=20
    )
    for incident in found:
        has_begun = incident.began_at <= failed_at + JOINS_WITHIN
        is_over = incident.resolved_at is not None and incident.resolved_at < failed_at - JOINS_WITHIN
        lead = incident.lead
        if (
            has_begun
            and not is_over
            and lead.severity is Severity.CRITICAL
            and lead.scope is ImpactScope.SUBJECT
        ):
            return incident
    return None


def cause_text(incident: Incident) -> Text:
    cause = sentence(
        "{incident}, since {at} (`{id}`)", incident=headline(incident), at=incident.began_at, id=incident.id
    )
    return text(bold("Probably not your code: "), cause)


def again_elsewhere(cause: Incident, plan: Plan | None) -> Button | None:
    """Return the button that launches it under another name off the incident's node, None where its line cannot."""
    if plan is None or plan.is_fixed or not plan.line.startswith(LINE):
        return None
    name, space, options = plan.line.removeprefix(LINE).partition(" ")
    if not space or name.startswith("-"):
        return None
    line = f"{LINE}{_next_name(name)} --not-on {cause.subject.node} {options}"
    return Button(label="Launch it again elsewhere", line=line)


def _next_name(name: str) -> str:
    """Return the name with the next number: `detr` gives `detr-2`."""
    base, dash, number = name.rpartition("-")
    return f"{base}-{int(number) + 1}" if dash and number.isdecimal() and len(number) < 4 else f"{name}-2"
