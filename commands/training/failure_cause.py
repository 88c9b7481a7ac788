"""A likely cause of a training's failure besides its own code: the incident of the node where its first task failed."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from alerts.cards.headline import headline
from alerts.cards.message import Button
from alerts.cards.text import Text, bold, text
from alerts.incidents.impacts import JOINS_WITHIN
from alerts.incidents.incident import Incident
from alerts.rules import ImpactScope, Severity
from alerts.store import StoreSnapshot
from collectors.facts.sentences import sentence
from collectors.trainings.training import Rank, Training, TrainingState
from commands.execution.plan import Plan
from commands.models import Launch, TrainingNotice

LINE = "training launch "
LOOKED_AT_FOR = timedelta(minutes=10)  # after a failure: its node's incident may be opened later


def suspected_node(first: Rank | None) -> str:
    """Return the node of the first failure. A task that exceeded its own memory limit has itself to blame."""
    return first.node if first is not None and not is_own_fault(first) else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Death:
    """The failure of a training: when, and where its tasks ran."""

    cluster: str
    at: datetime
    nodes: tuple[str, ...]  # of the tasks that failed first
    others: tuple[str, ...] = ()  # of the rest of its gang, which ends when one of it does


def death_of_launch(launch: Launch, training: Training | None) -> Death | None:
    """Return how a launch ended; None while it has not failed, or where it has itself to blame."""
    if not launch.failed_on or launch.failed_at is None:
        return None
    together = training.failed_together if training is not None else ()
    others = training.nodes if training is not None else ()
    nodes = tuple(dict.fromkeys((launch.failed_on, *together)))
    return Death(cluster=launch.cluster, at=launch.failed_at, nodes=nodes, others=others)


def death_of(training: Training, cluster: str) -> Death | None:
    """Return how a training ended; None while it has not failed, or where it has itself to blame."""
    first = training.first_failure
    at = (first.finished if first is not None else None) or training.finished
    if training.state is not TrainingState.FAILED or at is None or is_own_fault(first):
        return None
    return Death(cluster=cluster, at=at, nodes=training.failed_together, others=training.nodes)


def death_of_notice(notice: TrainingNotice) -> Death | None:
    """Return how the training of a notice ended; None where it has itself to blame, or has not failed."""
    first = notice.failures[0] if notice.failures else None
    if not notice.has_failed or is_own_fault(first):
        return None
    nodes = tuple(dict.fromkeys(rank.node for rank in notice.failures if rank.node))
    return Death(cluster=notice.cluster, at=notice.at, nodes=nodes, others=notice.nodes)


def is_own_fault(first: Rank | None) -> bool:
    """Whether the task that failed first exceeded its own memory limit: no node is to blame for that."""
    return first is not None and first.reason == "OOMKilled"


async def cause_of(death: Death | None, snapshot: StoreSnapshot) -> Incident | None:
    """Return the critical incident of a node where one of the first tasks failed, around that time.

    Else one of any node of the gang that began around that time: what happens to one task ends all, and the tasks of
    a node that is gone are the last of which Kubernetes says so.
    """
    if death is None:
        return None
    for node in death.nodes:
        if (incident := await _incident_of(node, death, snapshot)) is not None:
            return incident
    for node in death.others:
        incident = await _incident_of(node, death, snapshot)
        if incident is not None and incident.began_at >= death.at - JOINS_WITHIN:
            return incident
    return None


async def _incident_of(node: str, death: Death, snapshot: StoreSnapshot) -> Incident | None:
    found = await snapshot.rows(Incident).find(
        cluster=death.cluster, group_key=f"node/{node}", newest=True, limit=20
    )
    for incident in found:
        has_begun = incident.began_at <= death.at + JOINS_WITHIN
        is_over = incident.resolved_at is not None and incident.resolved_at < death.at - JOINS_WITHIN
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
    said = headline(incident)
    if incident.resolved_at is None:
        cause = sentence(
            "{incident}, since {at} (`{id}`)", incident=said, at=incident.began_at, id=incident.id
        )
    else:
        cause = sentence(
            "{incident}, from {at} to {end} (`{id}`)",
            incident=said,
            at=incident.began_at,
            end=incident.resolved_at,
            id=incident.id,
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
