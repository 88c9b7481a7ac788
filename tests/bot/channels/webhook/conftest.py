"""A webhook receiver, and a notifier that posts to it."""

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from typing import Any

import aiohttp
import pytest

from bot.channels.webhook.notifier import WebhookNotifier
from bot.channels.webhook.opening import endpoint_of
from bot.settings.channels import WebhookSettings
from tests.support.webhook_receiver import WebhookReceiver
from tests.support.yard import Hands

NotifierOf = Callable[..., WebhookNotifier]


@pytest.fixture
async def receiver() -> AsyncIterator[WebhookReceiver]:
    async with WebhookReceiver.running() as one:
        yield one


@pytest.fixture
async def notifier_of(receiver: WebhookReceiver) -> AsyncIterator[NotifierOf]:
    """Return a function that makes the notifier of `webhook:night`, with more settings."""
    async with AsyncExitStack() as stack:
        session = await stack.enter_async_context(aiohttp.ClientSession())

        def make(**more: Any) -> WebhookNotifier:
            settings = WebhookSettings.model_validate(
                more if "url_file" in more else {"url": receiver.url, **more}
            )
            return WebhookNotifier(session, {"night": endpoint_of("night", settings)}, clock=Hands())

        yield make
