"""The console notifier, for runs without chat: prints each card when it is new or has changed."""

from uuid import uuid4

import structlog

from alerts.cards.message import Message, Text, plain
from bot.channels.console.plain_text import plain_text
from bot.delivery.notifier_protocol import Capabilities, SearchWindow
from bot.delivery.rate_limiter import UNLIMITED

LOG = "log"  # its one channel

_log = structlog.get_logger()


class ConsoleNotifier:
    """A Notifier of `bot/delivery/notifier_protocol.py`. Changed cards are printed again, buttons as lines."""

    capabilities = Capabilities(edit=True, thread=True, buttons=True, limits=UNLIMITED)

    async def post(
        self,
        channel: str,
        content: Message | Text,
        *,
        thread: str | None = None,
        nonce: str,
        broadcast: bool = False,
    ) -> str:
        _log.info("message posted", channel=channel, thread=thread or "", text=_text(content))
        return uuid4().hex

    async def edit(self, channel: str, message_id: str, message: Message) -> None:
        _log.info("message updated", channel=channel, text=_text(message))

    async def find(self, channel: str, nonce: str, window: SearchWindow, thread: str | None = None) -> None:
        return None

    async def delete(self, channel: str, message_id: str) -> None:
        return None


def _text(content: Message | Text) -> str:
    return plain_text(content) if isinstance(content, Message) else plain(content)
