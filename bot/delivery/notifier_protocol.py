"""This file has what telling asks of a chat, and the ways in which a chat can fail."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

from alerts.cards.message import Message, Text


class SendError(Exception):
    """A message was not told, or nobody knows whether it was."""


class Recoverable(SendError):  # noqa: N818  a kind of SendError
    """It was surely not told, and may be later: after `retry_after`, when the chat said so."""

    def __init__(self, reason: str, *, retry_after: timedelta | None = None) -> None:
        super().__init__(reason)
        self.retry_after = retry_after


class UnknownOutcome(SendError):  # noqa: N818
    """No answer: nobody knows whether it was told."""


class Permanent(SendError):  # noqa: N818
    """It was surely not told, and will not be until somebody helps. `of_channel`: the channel refuses everything."""

    def __init__(self, reason: str, *, of_channel: bool = False) -> None:
        super().__init__(reason)
        self.of_channel = of_channel


class Gone(SendError):  # noqa: N818
    """The message cannot be changed any more: somebody deleted it, or its time to be edited is over."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Duplicates:
    """The same message, told more than once; `younger` in order of age."""

    oldest: str
    younger: tuple[str, ...]


class Notifier(Protocol):
    """A chat. Every call ends by itself within seconds, and fails with a SendError only."""

    async def post(
        self,
        channel: str,
        content: Message | Text,
        *,
        thread: str | None = None,
        nonce: str,
        broadcast: bool = False,
    ) -> str:
        """Post a card or a line, and give the message's name. `nonce` is stored with it, for `find`."""
        ...

    async def edit(self, channel: str, message_id: str, message: Message) -> None: ...

    async def find(
        self, channel: str, nonce: str, since: datetime, thread: str | None = None
    ) -> str | Duplicates | None:
        """Our own messages with this nonce, told since then."""
        ...

    async def delete(self, channel: str, message_id: str) -> None: ...
