"""The apprise notifier: a card is a message, sent again when its state changes.

Such a service can neither edit nor find a message. So one whose answer was lost, in a crash or on the way, is sent
again: a second mail does less harm than none (docs/adr/0044).
"""

import asyncio
from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import NoReturn

from alerts.cards.message import Message
from alerts.cards.text import Text
from bot.channels.apprise.apprise_service import AppriseMessage, AppriseService
from bot.channels.plain_text import plain_text
from bot.delivery.notifier_protocol import (
    Capabilities,
    Permanent,
    Picture,
    Refuses,
    SearchWindow,
    UnknownOutcome,
)
from bot.delivery.rate_limiter import UNLIMITED, RateLimit, RateLimits
from bot.language.message_catalogue import ENGLISH, Catalogue
from bot.language.translation import translated
from bot.settings.secrets import SecretError
from collectors.facts.sentences import listed, said_by, sentence

# Chats take one message a second for each channel, and some 20 a minute for each group (DingTalk, Telegram, WeCom).
LIMITS = RateLimits(channel=RateLimit(every=timedelta(seconds=3.1), burst=5), methods=UNLIMITED.methods)


class AppriseNotifier:
    """A Notifier of `bot/delivery/notifier_protocol.py`; its channels are addresses by name.

    `addresses` read their secrets at each call, and raise SecretError.
    """

    capabilities = Capabilities(limits=LIMITS)

    def __init__(self, addresses: Mapping[str, Callable[[], str]], catalogue: Catalogue = ENGLISH) -> None:
        self._addresses = addresses
        self._catalogue = catalogue
        self._open: dict[str, tuple[str, AppriseService]] = {}  # by channel, with its address

    async def post(
        self,
        channel: str,
        content: Message | Text,
        *,
        thread: str | None = None,
        nonce: str,
        broadcast: bool = False,
    ) -> str:
        if channel not in self._addresses:
            raise Permanent(
                sentence("the settings have no channel apprise:{channel}", channel=channel),
                refuses=Refuses.CHANNEL,
            )
        if not isinstance(content, Message):
            raise Permanent(sentence("apprise takes cards only"))
        shown = translated(content.without_buttons, self._catalogue)
        message = AppriseMessage(
            title=shown.notification, body=plain_text(shown, self._catalogue), color=content.color
        )
        service = await self._service(channel)
        if not await asyncio.to_thread(service.send, message):
            raise UnknownOutcome(sentence("apprise {channel}: it was not taken", channel=channel))
        return nonce

    async def _service(self, channel: str) -> AppriseService:
        name = f"apprise {channel}"
        try:
            address = self._addresses[channel]()
            known = self._open.get(channel)
            if known is None or known[0] != address:
                known = self._open[channel] = (address, await asyncio.to_thread(AppriseService, address))
        except (SecretError, ValueError) as error:  # neither has anything of the address
            raise Permanent(listed((name, said_by(error)), ":"), refuses=Refuses.CHANNEL) from None
        return known[1]

    async def edit(self, channel: str, message_id: str, message: Message) -> None:
        _not_capable()

    async def find(self, channel: str, nonce: str, window: SearchWindow, thread: str | None = None) -> None:
        _not_capable()

    async def delete(self, channel: str, message_id: str) -> None:
        _not_capable()

    async def upload(self, channel: str, picture: Picture, *, thread: str) -> str:
        _not_capable()


def _not_capable() -> NoReturn:
    raise Permanent(sentence("apprise can only send messages"))
