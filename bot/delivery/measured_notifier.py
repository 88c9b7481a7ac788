"""A Notifier whose posts and edits are counted and timed."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

from alerts.cards.message import Message
from bot.delivery.notifier_protocol import (
    Capabilities,
    Duplicates,
    Gone,
    NewMessage,
    Notifier,
    Permanent,
    Picture,
    Recoverable,
    SearchWindow,
)
from bot.metrics import Metrics


class MeasuredNotifier:
    """Passes every call on. A call that its caller gives up has an unknown outcome."""

    def __init__(self, notifier: Notifier, metrics: Metrics, *, integration: str) -> None:
        self._notifier = notifier
        self._metrics = metrics
        self._integration = integration

    @property
    def capabilities(self) -> Capabilities:
        return self._notifier.capabilities

    async def post(self, channel: str, new: NewMessage) -> str:
        with self._measured():
            return await self._notifier.post(channel, new)

    async def edit(self, channel: str, message_id: str, message: Message) -> None:
        with self._measured():
            await self._notifier.edit(channel, message_id, message)

    async def find(
        self, channel: str, nonce: str, window: SearchWindow, thread: str | None = None
    ) -> str | Duplicates | None:
        return await self._notifier.find(channel, nonce, window, thread)

    async def delete(self, channel: str, message_id: str) -> None:
        await self._notifier.delete(channel, message_id)

    async def upload(self, channel: str, picture: Picture, *, thread: str) -> str:
        return await self._notifier.upload(channel, picture, thread=thread)

    @contextmanager
    def _measured(self) -> Iterator[None]:
        self._metrics.notifications.labels(self._integration).inc()
        with self._metrics.notification_latency.labels(self._integration).time():
            try:
                yield
            except (Exception, asyncio.CancelledError) as error:
                self._metrics.notifications_failed.labels(self._integration, _reason(error)).inc()
                raise


def _reason(error: BaseException) -> str:
    match error:
        case Permanent():
            return "permanent"
        case Recoverable():
            return "recoverable"
        case Gone():
            return "gone"
        case _:
            return "unknown_outcome"
