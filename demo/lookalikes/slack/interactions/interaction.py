"""This file holds what every gesture needs, and what comes of one."""

from dataclasses import dataclass, field
from typing import Any

from demo.lookalikes.slack.delivery.dispatcher import Dispatcher
from demo.lookalikes.slack.delivery.envelopes import Envelope
from demo.lookalikes.slack.state.messages import Message
from demo.lookalikes.slack.state.workspace import Workspace


class NotPossibleError(Exception):
    """Slack's own client would not let a person do this; the words are those it would show."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InteractionContext:
    """The workspace, and the way to the app."""

    workspace: Workspace
    post: Dispatcher


@dataclass(frozen=True, slots=True, kw_only=True)
class Interaction:
    """What came of something that a person did."""

    person: str
    #: What the app was sent; None when it was sent nothing, or events only.
    envelope: Envelope | None = None
    #: The message that the person wrote.
    message: Message | None = None
    #: Why the person saw a failure; empty when all went well.
    error: str = ""
    #: The field errors that a modal shows, by block id.
    errors: dict[str, str] = field(default_factory=dict)

    @property
    def response(self) -> dict[str, Any] | None:
        """What the app sent with its acknowledgement."""
        return self.envelope.response if self.envelope else None
