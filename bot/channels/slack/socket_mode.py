"""This file keeps the socket to Slack open: watched by pings, and opened again when it dies."""

import asyncio
import contextlib
import logging
from datetime import timedelta
from typing import Any

import aiohttp
import structlog
from slack_bolt.adapter.socket_mode.async_handler import AsyncSocketModeHandler
from slack_bolt.async_app import AsyncApp
from slack_sdk.errors import SlackClientError

from bot.settings.secrets import Secret

LOOKED_AT = timedelta(seconds=2)
PING = timedelta(seconds=5)  # a socket without a pong for four of these is dead
DEAD = timedelta(seconds=45)  # without a connection: then we force a new one

log = structlog.get_logger(__name__)


class Socket:
    """An edge: its owner runs it, and starts it again when it fails. `is_connected`: gestures can come."""

    def __init__(self, app: AsyncApp, token: Secret) -> None:
        self.is_connected = False
        self._app = app
        self._token = token

    async def run(self) -> None:
        """Connect, and stay connected until cancelled. Raises what connecting raises."""
        handler = AsyncSocketModeHandler(
            self._app,
            self._token(),
            web_client=self._app.client,
            logger=quiet_logger(),
            ping_interval=round(PING.total_seconds()),
        )
        try:
            async with asyncio.timeout(DEAD.total_seconds()):
                await handler.connect_async()  # type: ignore[no-untyped-call]
            await self._watch(handler.client)
        finally:
            self.is_connected = False
            await self._close(handler.client)

    async def _watch(self, client: Any) -> None:
        """The client mends its socket by itself; when it does not, we make it."""
        loop = asyncio.get_running_loop()
        alive_at = loop.time()
        while True:
            self.is_connected = bool(await client.is_connected())
            if self.is_connected:
                alive_at = loop.time()
            elif loop.time() - alive_at > DEAD.total_seconds():
                log.warning("slack.socket_dead", since=round(loop.time() - alive_at))
                try:
                    async with asyncio.timeout(DEAD.total_seconds()):
                        await client.connect_to_new_endpoint(force=True)
                except (TimeoutError, aiohttp.ClientError, SlackClientError, OSError) as error:
                    log.warning("slack.socket_not_mended", reason=type(error).__name__)
                alive_at = loop.time()
            await asyncio.sleep(LOOKED_AT.total_seconds())

    async def _close(self, client: Any) -> None:
        tasks = [client.current_session_monitor, client.message_receiver, client.message_processor]
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(5):
                await client.close()
        owned = [task for task in tasks if task is not None]
        for task in owned:
            task.cancel()
        await asyncio.gather(*owned, return_exceptions=True)


def quiet_logger() -> logging.Logger:
    """Bolt's and the socket's own words: only what went wrong."""
    logger = logging.getLogger("yardmaster.slack")
    logger.setLevel(logging.WARNING)
    return logger
