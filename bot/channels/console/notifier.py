"""The console notifier, for runs without chat: prints each card when it is new or has changed."""

from uuid import uuid4

import structlog

from alerts.cards.message import Message
from alerts.cards.text import Text, plain
from bot.channels.plain_text import plain_text
from bot.delivery.notifier_protocol import Capabilities, NewMessage, Permanent, Picture, SearchWindow
from bot.delivery.rate_limiter import UNLIMITED
from bot.language.message_catalogue import ENGLISH, Catalogue
from bot.language.translation import translated_text
from collectors.facts.sentences import sentence

LOG = "log"  # its one channel

_log = structlog.get_logger()


class ConsoleNotifier:
    """A Notifier of `bot/delivery/notifier_protocol.py`. Changed cards are printed again, buttons as lines."""

    capabilities = Capabilities(edit=True, thread=True, buttons=True, limits=UNLIMITED)

    def __init__(self, catalogue: Catalogue = ENGLISH) -> None:
        self._catalogue = catalogue

    async def post(self, channel: str, new: NewMessage) -> str:
        _log.info("message posted", channel=channel, thread=new.thread or "", text=self._text(new.content))
        return uuid4().hex

    async def edit(self, channel: str, message_id: str, message: Message) -> None:
        _log.info("message updated", channel=channel, text=self._text(message))

    async def find(
        self, channel: str, nonce: str, window: SearchWindow, thread: str | None = None
    ) -> tuple[str, ...]:
        return ()

    async def delete(self, channel: str, message_id: str) -> None:
        return None

    async def upload(self, channel: str, picture: Picture, *, thread: str) -> str:
        raise Permanent(sentence("the log shows no pictures"))

    def _text(self, content: Message | Text) -> str:
        if isinstance(content, Message):
            return plain_text(content, self._catalogue)
        return plain(translated_text(content, self._catalogue))
