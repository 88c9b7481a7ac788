"""This file speaks to the console where there is no chat: a card is printed when it is new or has changed."""

from datetime import datetime
from uuid import uuid4

import structlog

from alerts.cards.message import Message, Text, plain
from bot.channels.console.plain_text import plain_text

CHANNEL = "console"

_log = structlog.get_logger()


class ConsoleNotifier:
    """A Speaker of `bot/delivery/notifier_protocol.py`. What was printed cannot be found again or taken back."""

    async def post(
        self,
        channel: str,
        said: Message | Text,
        *,
        thread: str | None = None,
        nonce: str,
        broadcast: bool = False,
    ) -> str:
        _log.info("told", channel=channel, thread=thread or "", text=_text(said))
        return uuid4().hex

    async def edit(self, channel: str, ts: str, message: Message) -> None:
        _log.info("told", channel=channel, text=_text(message))

    async def find(self, channel: str, nonce: str, since: datetime, thread: str | None = None) -> None:
        return None

    async def delete(self, channel: str, ts: str) -> None:
        return None


def _text(said: Message | Text) -> str:
    return plain_text(said) if isinstance(said, Message) else plain(said)
