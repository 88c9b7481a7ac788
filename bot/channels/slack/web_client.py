"""The Slack Web API client: every call has a timeout, and the SDK's own retries are off."""

import asyncio
from collections.abc import Awaitable, Mapping
from contextlib import AsyncExitStack
from datetime import timedelta
from typing import Any

import aiohttp
from slack_sdk.web.async_client import AsyncWebClient

from bot.channels.slack.api_errors import send_error
from bot.delivery.notifier_protocol import SendError

TIMEOUT = timedelta(seconds=7)  # of one call; the delivery timeout is longer


class SlackClient:
    """Owns the SDK's client and its connections: use it as an async context manager.

    `api_url` is the URL of any Slack-compatible API.
    """

    def __init__(
        self, token: str, *, api_url: str = "https://slack.com/api/", timeout: timedelta = TIMEOUT
    ) -> None:
        self._token = token
        self._api_url = api_url if api_url.endswith("/") else api_url + "/"
        self._timeout = timeout.total_seconds()
        self._stack = AsyncExitStack()
        self._identity: dict[str, Any] = {}
        self.scopes: frozenset[str] = frozenset()  # of the token, once `identity` was answered

    async def __aenter__(self) -> "SlackClient":
        timeout = aiohttp.ClientTimeout(total=self._timeout)
        self.session = await self._stack.enter_async_context(aiohttp.ClientSession(timeout=timeout))
        self.web = AsyncWebClient(
            token=self._token,
            base_url=self._api_url,
            session=self.session,
            retry_handlers=[],  # they would post duplicates
            timeout=max(1, round(self._timeout)),
        )
        return self

    def without_token(self) -> AsyncWebClient:
        """Return a client for calls with another token, with the same address and connections."""
        return AsyncWebClient(
            base_url=self._api_url, session=self.session, retry_handlers=[], timeout=self.web.timeout
        )

    @property
    def known_identity(self) -> dict[str, Any]:
        """What `identity` returned, without a call; empty if it has not been answered yet."""
        return self._identity

    async def __aexit__(self, *_: object) -> None:
        await self._stack.aclose()

    async def call(self, method: str, answer: Awaitable[Any]) -> Any:
        """Await a call of the SDK's client. Raises only SendError."""
        try:
            async with asyncio.timeout(self._timeout):
                return await answer
        except SendError:
            raise
        except Exception as error:
            raise send_error(error, method) from error

    async def identity(self) -> dict[str, Any]:
        """Return auth.test, queried once: `user_id`, `bot_id`, `team_id`. Raises SendError."""
        if not self._identity:
            answer = await self.call("auth.test", self.web.auth_test())
            self._identity = answer.data
            self.scopes = _scopes(answer.headers)
        return self._identity


def _scopes(headers: Mapping[str, str]) -> frozenset[str]:
    given = next((value for name, value in headers.items() if name.lower() == "x-oauth-scopes"), "")
    return frozenset(scope.strip() for scope in given.split(",") if scope.strip())
