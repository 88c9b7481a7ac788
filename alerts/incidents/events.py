"""Events of an incident, which make up its history."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

MAX_EVENTS = 200  # per history: the first one and the newest


class IncidentEventType(StrEnum):
    """What can happen to an incident. Those in `NOTIFYING` are posted as replies in the card's thread."""

    OPENED = "opened"
    SEVERITY_RAISED = "severity_raised"
    WORSENED = (
        "worsened"  # as critical as it was, and the consequence is graver; `text`: how a parent has grown
    )
    ALERT_ADDED = "alert_added"
    ALERT_RESOLVED = "alert_resolved"
    ACKNOWLEDGED = "acknowledged"
    HANDED_OVER = "handed_over"  # `who` has it now, `text` is the name of who gave it
    GIVEN_BACK = "given_back"
    ACTION_DONE = "action_done"
    PROVEN = "proven"  # by a person, `who`, for the reason in `text`; else by what was seen
    TRAINING_FAILED = "training_failed"
    JOINED = "joined"  # it is a part of the parent incident in `text` from then on
    REMINDED = "reminded"  # the channel was reminded that nobody has acknowledged it; only the last is kept
    REOPENED = "reopened"  # by a person, `who`, for the reason in `text`; else by an alert
    RESOLVED = "resolved"


NOTIFYING = frozenset(
    {
        IncidentEventType.SEVERITY_RAISED,
        IncidentEventType.WORSENED,
        IncidentEventType.ACKNOWLEDGED,
        IncidentEventType.HANDED_OVER,
        IncidentEventType.GIVEN_BACK,
        IncidentEventType.REOPENED,
        IncidentEventType.RESOLVED,
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class IncidentEvent:
    """An event of an incident; `number` counts within the incident and is part of the reply's id."""

    number: int
    at: datetime
    type: IncidentEventType
    text: str = ""
    who: str = ""  # a person's id or an automation's name
    who_name: str = ""


def last_number(events: Sequence[IncidentEvent]) -> int:
    """Return the number of the last event; 0 without one."""
    return events[-1].number if events else 0


def with_next(
    events: Sequence[IncidentEvent],
    type: IncidentEventType,
    at: datetime,
    *,
    text: str = "",
    who: str = "",
    who_name: str = "",
) -> tuple[IncidentEvent, ...]:
    """Return the history with one more event, which gets the next number."""
    number = last_number(events) + 1
    event = IncidentEvent(number=number, at=at, type=type, text=text, who=who, who_name=who_name)
    return (*events[:1], *events[1:][-(MAX_EVENTS - 2) :], event)


def with_reminder(events: Sequence[IncidentEvent], at: datetime) -> tuple[IncidentEvent, ...]:
    """Return the history with a reminder, in the place of an earlier one."""
    *before, reminder = with_next(events, IncidentEventType.REMINDED, at)
    return (*(one for one in before if one.type is not IncidentEventType.REMINDED), reminder)
