"""What may have killed a training besides its own code: the incident of the node where its first task failed."""

from datetime import timedelta

from alerts.cards.headline import headline
from alerts.cards.message import Button, Text, bold, code, moment, text
from alerts.incidents.impacts import JOINS_WITHIN
from alerts.incidents.incident import Incident
from alerts.rules import ImpactScope, Severity
from alerts.store import StoreSnapshot
from collectors.trainings.training import Rank
from commands.models import Launch
from commands.plans.plan import Plan

LINE = "training launch "
LOOKED_AT_FOR = timedelta(minutes=10)  # after a failure: its node's incident may be opened later


def suspected_node(first: Rank | None) -> str:
    """Return the node of the first failure. A task that exceeded its own memory limit has itself to blame."""
    return first.node if first is not None and first.reason != "OOMKilled" else ""


async def cause_of(launch: Launch, snapshot: StoreSnapshot) -> Incident | None:
    """Return the critical incident of the node where the launch's first task failed, around that time."""
    if not launch.failed_on or launch.failed_at is None:
        return None
    found = await snapshot.rows(Incident).find(
        cluster=launch.cluster, group_key=f"node/{launch.failed_on}", newest=True, limit=20
    )
    for incident in found:
        has_begun = incident.began_at <= launch.failed_at + JOINS_WITHIN
        is_over = incident.resolved_at is not None and incident.resolved_at < launch.failed_at - JOINS_WITHIN
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
    said, since = headline(incident), moment(incident.began_at)
    return text(bold("Probably not your code: "), f"{said}, since ", since, " (", code(incident.id), ")")


def again_elsewhere(launch: Launch, plan: Plan | None) -> Button | None:
    """Return the button that launches it under another name and without the node, None where its line cannot."""
    if plan is None or plan.is_fixed or not plan.line.startswith(LINE):
        return None
    name, space, options = plan.line.removeprefix(LINE).partition(" ")
    if not space or name.startswith("-"):
        return None
    line = f"{LINE}{_next_name(name)} --not-on {launch.failed_on} {options}"
    return Button(label="Launch it again elsewhere", line=line)


def _next_name(name: str) -> str:
    """Return the name with the next number: `detr` gives `detr-2`."""
    base, dash, number = name.rpartition("-")
    return f"{base}-{int(number) + 1}" if dash and number.isdecimal() and len(number) < 4 else f"{name}-2"
