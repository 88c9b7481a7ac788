"""Stored rows of requests that were handled."""

from dataclasses import dataclass
from datetime import datetime

from alerts.store import stored


@stored("handled_requests", "at", over=lambda request: request.at)  # its cluster is not known yet
@dataclass(frozen=True, slots=True, kw_only=True)
class HandledRequest:
    """A typed line or a click that was accepted. The sender sets the id, so a redelivery is recognized."""

    id: str
    at: datetime
    is_done: bool = False  # its effect is stored: it must not run again, even if it was interrupted
