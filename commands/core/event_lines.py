"""Events as lines, the newest first. Pure."""

from collections import Counter
from collections.abc import Iterable
from datetime import datetime

from collectors.cluster.objects import Event
from collectors.facts.one_line import one_line
from collectors.facts.redaction import Redactor
from collectors.facts.sentences import sentence
from commands.core.lookups import age

_MESSAGE = 160  # characters of a message


def event_lines(
    events: Iterable[Event], now: datetime, redactor: Redactor, *, most: int, message: int = _MESSAGE
) -> tuple[str, ...]:
    """Return a line for each event that says something of its own, with how often it happened to any of its objects."""
    found = sorted(events, key=lambda event: str(event.last_seen), reverse=True)
    times: Counter[tuple[str, str]] = Counter()
    newest: dict[tuple[str, str], Event] = {}
    for event in found:
        key = (event.reason, event.message)
        times[key] += event.times
        newest.setdefault(key, event)
    return tuple(
        sentence(
            "{age} ago  {reason}: {message}",
            age=age(event.last_seen, now),
            reason=event.reason,
            message=one_line(redactor.clean(event.message), message)
            + (f" (x{times[key]})" if times[key] > 1 else ""),
        )
        for key, event in list(newest.items())[:most]
    )
