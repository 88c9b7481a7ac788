"""A Notifier whose posts and edits are counted and timed."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import KW_ONLY, dataclass

from alerts.cards.message import Message
from bot.delivery.notifier_protocol import (
    Capabilities,
    Gone,
    NewMessage,
    Notifier,
    Permanent,
    Picture,
    Recoverable,
    SearchWindow,
)
from bot.metrics import Metrics


@dataclass(frozen=True, slots=True)
class MeasuredNotifier:
    """Passes every call on. A call that its caller gives up has an unknown outcome."""

    notifier: Notifier
    metrics: Metrics
    _: KW_ONLY
    integration: str

    @property
    def capabilities(self) -> Capabilities:
        return self.notifier.capabilities

    async def post(self, channel: str, new: NewMessage) -> str:
        with self._measured():
            return await self.notifier.post(channel, new)

    async def edit(self, channel: str, message_id: str, message: Message) -> None:
        with self._measured():
            await self.notifier.edit(channel, message_id, message)

    async def find(
        self, channel: str, nonce: str, window: SearchWindow, thread: str | None = None
    ) -> tuple[str, ...]:
        return await self.notifier.find(channel, nonce, window, thread)

    async def delete(self, channel: str, message_id: str) -> None:
        await self.notifier.delete(channel, message_id)

    async def upload(self, channel: str, picture: Picture, *, thread: str) -> str:
        return await self.notifier.upload(channel, picture, thread=thread)

    @contextmanager
    def _measured(self) -> Iterator[None]:
        self.metrics.notifications.labels(self.integration).inc()
        with self.metrics.notification_latency.labels(self.integration).time():
            try:
                yield
            except (Exception, asyncio.CancelledError) as error:
                self.metrics.notifications_failed.labels(self.integration, _reason(error)).inc()
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
