"""This file holds what is sent to the app, each with the account of its deliveries."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any


@dataclass(slots=True, kw_only=True)
class Delivery:
    """One time that an envelope was handed over."""

    attempt: int
    at: datetime
    #: The socket it went through, or the request URL; empty when there was none.
    through: str = ""
    acked: bool = False
    #: Why it counts as failed: timeout, connection_closed, connection_failed, http_error.
    reason: str = ""


@dataclass(slots=True, kw_only=True)
class Envelope:
    """An event, a command or a gesture on its way to the app."""

    id: str
    #: events_api, slash_commands or interactive.
    kind: str
    payload: dict[str, Any]
    accepts_response: bool = False
    deliveries: list[Delivery] = field(default_factory=list)
    #: What came with the first acknowledgement.
    response: dict[str, Any] | None = None

    @property
    def acked(self) -> bool:
        return any(delivery.acked for delivery in self.deliveries)

    def wire(self, attempt: int, reason: str) -> dict[str, Any]:
        """The envelope as Socket Mode frames it."""
        whole: dict[str, Any] = {
            "envelope_id": self.id,
            "type": self.kind,
            "payload": self.payload,
            "accepts_response_payload": self.accepts_response,
        }
        if self.kind == "events_api" or attempt:
            whole |= {"retry_attempt": attempt, "retry_reason": reason}
        return whole
