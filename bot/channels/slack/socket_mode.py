"""The Socket Mode connection: watched by pings, and reopened when it dies."""

import asyncio
import contextlib
import logging
import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import aiohttp
import structlog
from slack_bolt.adapter.socket_mode.async_handler import AsyncSocketModeHandler
from slack_bolt.async_app import AsyncApp
from slack_sdk.errors import SlackClientError

from bot.channels.slack.api_errors import send_error
from bot.settings.secrets import Secret

CHECK_EVERY = timedelta(seconds=2)
PING = timedelta(seconds=5)  # a socket without a pong for four of these is dead
DEAD = timedelta(seconds=45)  # without a connection; then a new one is forced

_REFUSED = (TimeoutError, aiohttp.ClientError, SlackClientError, OSError)

log = structlog.get_logger(__name__)


_TICKET = re.compile(r"ticket=[^&'\"\s]+")


class Socket:
    """The socket. Its owner runs it, and restarts it when it fails.

    `is_connected`: interactions can arrive.
    """

    def __init__(self, app: AsyncApp, token: Secret) -> None:
        self.is_connected = False
        self._on_connected: Callable[[], None] = lambda: None
        self._app = app
        self._token = token

    def listen(self, on_connected: Callable[[], None]) -> None:
        """Call the listener after each connection that was opened."""
        self._on_connected = on_connected

    async def run(self) -> None:
        """Connect, and stay connected until cancelled. It ends when the first connection cannot be opened."""
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
        except _REFUSED as error:  # Slack's doing, not a bug: it needs no traceback
            reason = str(send_error(error, "apps.connections.open"))
            log.warning("slack socket cannot be opened", reason=reason)
            await self._close(handler.client)
            return
        try:
            await self._watch(handler.client)
        finally:
            self.is_connected = False
            await self._close(handler.client)

    async def _watch(self, client: Any) -> None:
        """Force a new connection when the client does not reconnect by itself."""
        loop = asyncio.get_running_loop()
        alive_at, session = loop.time(), ""
        while True:
            self.is_connected = bool(await client.is_connected())
            if self.is_connected:
                alive_at = loop.time()
                if session != (session := str(await client.session_id())):
                    self._on_connected()
            elif loop.time() - alive_at > DEAD.total_seconds():
                log.warning("slack socket is dead", since=round(loop.time() - alive_at))
                try:
                    async with asyncio.timeout(DEAD.total_seconds()):
                        await client.connect_to_new_endpoint(force=True)
                except _REFUSED as error:
                    log.warning("slack socket reconnect failed", reason=type(error).__name__)
                alive_at = loop.time()
            await asyncio.sleep(CHECK_EVERY.total_seconds())

    async def _close(self, client: Any) -> None:
        tasks = [client.current_session_monitor, client.message_receiver, client.message_processor]
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(5):
                await client.close()
        owned = [task for task in tasks if task is not None]
        for task in owned:
            task.cancel()
        await asyncio.gather(*owned, return_exceptions=True)


class WithoutTicket(logging.Filter):
    """Removes the socket's ticket from log lines: a refused connection is logged with its whole address."""

    def filter(self, record: logging.LogRecord) -> bool:
        record.msg, record.args = _TICKET.sub("ticket=[redacted]", record.getMessage()), ()
        record.exc_info = record.exc_text = None  # its text has the address again
        return True


def quiet_logger() -> logging.Logger:
    """Return the logger of Bolt and the socket: warnings and errors only."""
    logger = logging.getLogger("yardmaster.slack")
    logger.setLevel(logging.WARNING)
    if not any(isinstance(one, WithoutTicket) for one in logger.filters):
        logger.addFilter(WithoutTicket())
    return logger
