"""This file has the one way to call Slack: a client of ours, without its own retries, each call with a deadline."""

import asyncio
from collections.abc import Awaitable
from contextlib import AsyncExitStack
from datetime import timedelta
from types import TracebackType
from typing import Any

import aiohttp
from slack_sdk.web.async_client import AsyncWebClient

from bot.channels.slack.api_errors import send_error
from bot.delivery.notifier_protocol import SendError

TIMEOUT = timedelta(seconds=7)  # of one call; telling's patience is longer


class SlackClient:
    """Owns the client and its connections: use it as an async context manager.

    Args:
        token: the bot's token.
        api_url: of any Slack-compatible API; it ends in a slash.
    """

    def __init__(
        self, token: str, *, api_url: str = "https://slack.com/api/", timeout: timedelta = TIMEOUT
    ) -> None:
        self._token = token
        self._api_url = api_url if api_url.endswith("/") else api_url + "/"
        self._timeout = timeout.total_seconds()
        self._stack = AsyncExitStack()
        self._who: dict[str, Any] = {}

    async def __aenter__(self) -> "SlackClient":
        timeout = aiohttp.ClientTimeout(total=self._timeout)
        self.session = await self._stack.enter_async_context(aiohttp.ClientSession(timeout=timeout))
        self.web = AsyncWebClient(
            token=self._token,
            base_url=self._api_url,
            session=self.session,
            retry_handlers=[],  # its own retries would post twins
            timeout=max(1, round(self._timeout)),
        )
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._stack.aclose()

    async def call(self, method: str, answer: Awaitable[Any]) -> Any:
        """Await a call of the client. Raises SendError and nothing else."""
        try:
            async with asyncio.timeout(self._timeout):
                return await answer
        except SendError:
            raise
        except Exception as error:
            raise send_error(error, method) from error

    async def ourselves(self) -> dict[str, Any]:
        """auth.test, asked once: `user_id`, `bot_id`, `team_id`. Raises SendError."""
        if not self._who:
            self._who = (await self.call("auth.test", self.web.auth_test())).data
        return self._who
