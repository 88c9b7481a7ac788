"""Envelopes sent to the app, each with the record of its deliveries."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any


@dataclass(slots=True, kw_only=True)
class Delivery:
    """One delivery attempt of an envelope."""

    attempt: int
    at: datetime
    #: The socket id or the request URL; empty when there was no connection.
    through: str = ""
    acked: bool = False
    #: Why the delivery failed: timeout, connection_closed, connection_failed, http_error.
    reason: str = ""


@dataclass(slots=True, kw_only=True)
class Envelope:
    """An event, a slash command or an interaction for the app."""

    id: str
    #: events_api, slash_commands or interactive.
    kind: str
    payload: dict[str, Any]
    accepts_response: bool = False
    deliveries: list[Delivery] = field(default_factory=list)
    #: The payload of the first acknowledgement.
    response: dict[str, Any] | None = None

    @property
    def acked(self) -> bool:
        return any(delivery.acked for delivery in self.deliveries)

    def wire(self, attempt: int, reason: str) -> dict[str, Any]:
        """The envelope as Socket Mode frames it."""
        frame: dict[str, Any] = {
            "envelope_id": self.id,
            "type": self.kind,
            "payload": self.payload,
            "accepts_response_payload": self.accepts_response,
        }
        if self.kind == "events_api" or attempt:
            frame |= {"retry_attempt": attempt, "retry_reason": reason}
        return frame
