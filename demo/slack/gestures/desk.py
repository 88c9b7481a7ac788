"""This file holds what every gesture needs, and what comes of one."""

from dataclasses import dataclass, field
from typing import Any

from demo.slack.delivery.envelopes import Envelope
from demo.slack.delivery.post import Post
from demo.slack.state.messages import Message
from demo.slack.state.workspace import Workspace


class NotPossibleError(Exception):
    """Slack's own client would not let a person do this; the words are those it would show."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """The workspace, and the way to the app."""

    workspace: Workspace
    post: Post


@dataclass(frozen=True, slots=True, kw_only=True)
class Gesture:
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
