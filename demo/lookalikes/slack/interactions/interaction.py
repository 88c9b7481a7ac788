"""The context and the result of an interaction."""

from dataclasses import dataclass, field
from typing import Any

from demo.lookalikes.slack.delivery.dispatcher import Dispatcher
from demo.lookalikes.slack.delivery.envelopes import Envelope
from demo.lookalikes.slack.state.messages import Message
from demo.lookalikes.slack.state.workspace import Workspace


class NotPossibleError(Exception):
    """Slack's client would not allow this; the text is what it would show."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InteractionContext:
    """The workspace and the dispatcher to the app."""

    workspace: Workspace
    post: Dispatcher


@dataclass(frozen=True, slots=True, kw_only=True)
class Interaction:
    """The result of a person's interaction."""

    person: str
    #: What was sent to the app; None for nothing, or for events only.
    envelope: Envelope | None = None
    #: The message that the person wrote.
    message: Message | None = None
    #: The error that the person saw; empty on success.
    error: str = ""
    #: The field errors that a modal shows, by block id.
    errors: dict[str, str] = field(default_factory=dict)

    @property
    def response(self) -> dict[str, Any] | None:
        """The payload of the app's acknowledgement."""
        return self.envelope.response if self.envelope else None
