"""Heartbeats: what a receiver gets while the rules are evaluated; it raises the alarm when they no longer come."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta

import structlog

from bot.delivery.notifier_protocol import SendError

AGAIN = timedelta(seconds=5)  # after a heartbeat that was not sent

_log = structlog.get_logger()


@dataclass(frozen=True, slots=True, kw_only=True)
class Heartbeat:
    """The heartbeat of the channel with this id. `send` raises SendError."""

    channel: str
    every: timedelta
    send: Callable[[], Awaitable[None]]


class HeartbeatSender:
    """Sends one heartbeat. `not_ready` returns why all is not well, or nothing: then none is sent."""

    def __init__(self, heartbeat: Heartbeat, not_ready: Callable[[], str]) -> None:
        self._heartbeat = heartbeat
        self._not_ready = not_ready
        self._failure = ""  # the last one logged: a receiver that is down for a day is one line

    async def run(self) -> None:
        """Run until cancelled."""
        every = self._heartbeat.every
        while True:
            is_sent = await self.beat()
            await asyncio.sleep((every if is_sent else min(every, AGAIN)).total_seconds())

    async def beat(self) -> bool:
        """Send the heartbeat if all is well; return whether it was sent. A failure is logged."""
        failure = self._not_ready()
        if not failure:
            try:
                await self._heartbeat.send()
            except SendError as error:
                failure = str(error)
        if failure and failure != self._failure:
            _log.warning("heartbeat not sent", channel=self._heartbeat.channel, reason=failure)
        self._failure = failure
        return not failure
