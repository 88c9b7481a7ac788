"""Growth of a parent incident: when its channel is notified that it is twice as large as it was said to be. Pure."""

from dataclasses import replace
from datetime import datetime, timedelta

from alerts.incidents.events import IncidentEventType
from alerts.incidents.incident import CALLS
from alerts.parents.parent_incident import Announced, ParentIncident
from collectors.facts.sentences import counted

DOUBLE = 2
ANNOUNCED_AFTER = timedelta(minutes=2)  # what comes within it is one storm, which the card shows as it comes
MANY_GPUS = 64  # fewer that join are not worth a message


def with_growth(parent: ParentIncident, now: datetime) -> ParentIncident:
    """Return the parent with how large its channel knows it, and an event if it is twice that by now.

    A storm that doubles again and again is announced a few times: eight nodes become five hundred in six.
    """
    if not parent.is_open:
        return parent
    announced = parent.announced
    last = max((one.number for one in parent.events if one.type in CALLS), default=0)
    if announced is None or last > announced.event:  # it says how large it is
        return _announced(parent, last, now)
    if now - announced.at < ANNOUNCED_AFTER or (grown := _grown(parent, announced)) is None:
        return parent
    parent = parent.with_event(IncidentEventType.WORSENED, now, text=grown)
    return _announced(parent, parent.events[-1].number, now)


def _announced(parent: ParentIncident, event: int, now: datetime) -> ParentIncident:
    standing = parent.standing
    return replace(
        parent, announced=Announced(event=event, at=now, nodes=standing.open_nodes, gpus=standing.gpus)
    )


def _grown(parent: ParentIncident, announced: Announced) -> str | None:
    nodes, gpus = parent.standing.open_nodes, parent.standing.gpus
    if nodes >= DOUBLE * max(announced.nodes, 1):
        return counted(
            "It has grown from {before} to {count} node",
            "It has grown from {before} to {count} nodes",
            before=announced.nodes,
            count=nodes,
        )
    if gpus >= DOUBLE * announced.gpus and gpus - announced.gpus >= MANY_GPUS:
        return counted(
            "Trainings with {count} GPU are affected now, up from {before}",
            "Trainings with {count} GPUs are affected now, up from {before}",
            before=announced.gpus,
            count=gpus,
        )
    return None
