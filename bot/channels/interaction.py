"""Interactions: what people typed or pressed, in one neutral form, as it is stored until it has been handled."""

from dataclasses import dataclass
from datetime import datetime

from alerts.store import stored
from commands.core.request import line_without_secrets


@dataclass(frozen=True, slots=True, kw_only=True)
class InteractionFile:
    """An attached file; its content is downloaded when the line is handled."""

    name: str
    address: str
    size: int


@stored("interactions")  # until it is handled
@dataclass(frozen=True, slots=True, kw_only=True)
class Interaction:
    """A typed line or a click. `id` is the same in every delivery of the same interaction."""

    id: str
    via: str  # the kind of channel
    user_id: str
    workspace: str  # the person's
    text: str
    channel: str  # as in channel_id.py
    at: datetime
    thread: str = ""
    message_id: str = ""  # of the typed message, or of the message with the pressed button
    is_click: bool = False
    is_about: bool = False  # somebody asks what the message is; there is no line
    is_ephemeral: bool = False  # the button is on an ephemeral message
    answer_to: str = ""  # where its kind of channel takes an answer, if not in the channel
    trigger: str = ""  # allows to open a form for the person, for a few seconds
    files: tuple[InteractionFile, ...] = ()
    begun: int = 0  # how many processes have begun to run its line

    def __post_init__(self) -> None:
        object.__setattr__(self, "text", line_without_secrets(self.text))
