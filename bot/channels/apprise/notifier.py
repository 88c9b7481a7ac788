"""The apprise notifier: a card is a message, sent again when its state changes.

Such a service can neither edit nor find a message. So one whose answer was lost, in a crash or on the way, is sent
again: a second mail does less harm than none (docs/adr/0044). A service that is only slow is waited for: its thread
cannot be stopped, and delivers what it has.
"""

import asyncio
from collections.abc import Callable, Mapping
from datetime import timedelta

from alerts.cards.message import Message
from bot.channels.apprise.apprise_service import AppriseMessage, AppriseService
from bot.channels.plain_text import plain_text
from bot.channels.post_only import PostOnly, misconfigured
from bot.delivery.card_entries import state_digest_of
from bot.delivery.notifier_protocol import (
    Capabilities,
    NewMessage,
    Permanent,
    UnknownOutcome,
    unknown_channel,
)
from bot.delivery.rate_limiter import UNLIMITED, RateLimit, RateLimits
from bot.language.message_catalogue import ENGLISH, Catalogue
from bot.language.translation import translated
from bot.settings.secrets import SecretError
from collectors.facts.sentences import sentence

# Chats take one message a second for each channel, and some 20 a minute for each group (DingTalk, Telegram, WeCom).
LIMITS = RateLimits(channel=RateLimit(every=timedelta(seconds=3.1), burst=5), methods=UNLIMITED.methods)

MOST_SENDING = 100  # messages whose end nobody has seen


class AppriseNotifier(PostOnly):
    """A Notifier of `bot/delivery/notifier_protocol.py`; its channels are addresses by name.

    `addresses` read their secrets at each call, and raise SecretError.
    """

    only_posts = sentence("apprise can only send messages")
    capabilities = Capabilities(repeats_reach_people=True, limits=LIMITS)

    def __init__(self, addresses: Mapping[str, Callable[[], str]], catalogue: Catalogue = ENGLISH) -> None:
        self._addresses = addresses
        self._catalogue = catalogue
        self._sending: dict[tuple[str, str], asyncio.Future[bool]] = {}  # by channel and what the card says
        self._open: dict[str, tuple[str, AppriseService]] = {}  # by channel, with its address

    async def post(self, channel: str, new: NewMessage) -> str:
        if channel not in self._addresses:
            raise unknown_channel(f"apprise:{channel}")
        content = new.content
        if not isinstance(content, Message):
            raise Permanent(sentence("apprise takes cards only"))
        shown = translated(content.without_buttons, self._catalogue)
        message = AppriseMessage(
            title=shown.notification, body=plain_text(shown, self._catalogue), color=content.color
        )
        service = await self._service(channel)
        if not await self._sent(service, message, (channel, state_digest_of(content))):
            raise UnknownOutcome(sentence("apprise {channel}: it was not accepted", channel=channel))
        return new.nonce

    async def _sent(self, service: AppriseService, message: AppriseMessage, key: tuple[str, str]) -> bool:
        """Return whether the service took it. A call that was given up goes on, and the next one waits for its end."""
        thread = self._sending.get(key)
        if thread is None:
            while len(self._sending) >= MOST_SENDING:  # cards that changed before anybody asked again
                del self._sending[next(iter(self._sending))]
            loop = asyncio.get_running_loop()
            thread = self._sending[key] = loop.run_in_executor(None, service.send, message)
        try:
            return await asyncio.shield(thread)
        finally:
            if thread.done():
                self._sending.pop(key, None)

    async def _service(self, channel: str) -> AppriseService:
        name = f"apprise {channel}"
        try:
            address = self._addresses[channel]()
            known = self._open.get(channel)
            if known is None or known[0] != address:
                known = self._open[channel] = (address, await asyncio.to_thread(AppriseService, address))
        except (SecretError, ValueError) as error:  # neither has anything of the address
            raise misconfigured(name, error) from None
        return known[1]
