"""The notifiers by kind, each with the rate limits that all of its channels share."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NoReturn

from alerts.cards.channel_id import kind_and_name
from alerts.cards.message import Message
from bot.delivery.notifier_protocol import (
    Capabilities,
    NewMessage,
    Notifier,
    Picture,
    SearchWindow,
    unknown_channel,
)
from bot.delivery.rate_limiter import UNLIMITED, RateLimiter


@dataclass(frozen=True, slots=True, kw_only=True)
class RegisteredNotifier:
    """A notifier, and one limiter for each of its methods."""

    kind: str
    notifier: Notifier
    limiters: Mapping[str, RateLimiter]


class NotifierRegistry:
    """Finds a channel's notifier. A kind that the settings no longer have gets one that refuses and says so."""

    def __init__(self, notifiers: Mapping[str, Notifier]) -> None:
        self._registered = {kind: _registered(kind, notifier) for kind, notifier in notifiers.items()}

    def of(self, channel: str) -> RegisteredNotifier:
        """Return the notifier of a channel id."""
        kind, _ = kind_and_name(channel)
        if kind not in self._registered:
            self._registered[kind] = _registered(kind, UnconfiguredNotifier(kind))
        return self._registered[kind]


def _registered(kind: str, notifier: Notifier) -> RegisteredNotifier:
    limits = notifier.capabilities.limits.methods
    return RegisteredNotifier(
        kind=kind, notifier=notifier, limiters={name: RateLimiter(one) for name, one in limits.items()}
    )


class UnconfiguredNotifier:
    """Refuses everything, so that a card of a former channel has its reason in the store and waits for the settings."""

    def __init__(self, kind: str) -> None:
        self._kind = kind

    @property
    def capabilities(self) -> Capabilities:
        return Capabilities(edit=True, thread=True, find=True, buttons=True, limits=UNLIMITED)

    async def post(self, channel: str, new: NewMessage) -> str:
        self._refuse(channel)

    async def edit(self, channel: str, message_id: str, message: Message) -> None:
        self._refuse(channel)

    async def find(
        self, channel: str, nonce: str, window: SearchWindow, thread: str | None = None
    ) -> tuple[str, ...]:
        self._refuse(channel)

    async def delete(self, channel: str, message_id: str) -> None:
        self._refuse(channel)

    async def upload(self, channel: str, picture: Picture, *, thread: str) -> str:
        self._refuse(channel)

    def _refuse(self, channel: str) -> NoReturn:
        name = f"{self._kind}:{channel}" if self._kind else channel
        raise unknown_channel(name)
