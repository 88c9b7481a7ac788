"""Interactions: what people typed or pressed, in one neutral form, as it is stored until it has been handled."""

from dataclasses import dataclass
from datetime import datetime

from alerts.store import stored


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
    user_id: str
    team_id: str  # the person's workspace
    text: str
    channel: str
    at: datetime
    thread_ts: str = ""
    message_ts: str = ""  # of the typed message, or of the message with the pressed button
    is_click: bool = False
    is_ephemeral: bool = False  # the button is on an ephemeral message
    trigger_id: str = ""
    response_url: str = ""
    files: tuple[InteractionFile, ...] = ()
    begun: int = 0  # how many processes have begun to handle it
