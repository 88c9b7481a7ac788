"""Opening of several webhooks: none of them is kept waiting by the others."""

import asyncio
from contextlib import AsyncExitStack

from bot.channels.open_channel import ChannelDependencies
from bot.channels.webhook.notifier import AT_ONCE
from bot.channels.webhook.opening import open_webhooks
from bot.delivery.notifier_protocol import NewMessage
from bot.settings.schema import Settings
from tests.support.incidents import an_incident_message
from tests.support.memory_store import MemoryStore
from tests.support.webhook_receiver import WebhookReceiver
from tests.support.yard import Hands

SLOW = [f"slow-{number}" for number in range(6)]


async def test_receivers_that_hang_hold_up_no_other_webhook() -> None:
    message = an_incident_message("gpu-a04 is hot")
    async with AsyncExitStack() as stack:
        hanging = await stack.enter_async_context(WebhookReceiver.running())
        quick = await stack.enter_async_context(WebhookReceiver.running())
        hanging.latency = 3600
        settings = Settings.model_validate(
            {
                "channels": {
                    **{name: {"webhook": {"url": hanging.url, "timeout": "10s"}} for name in SLOW},
                    "quick": {"webhook": {"url": quick.url, "timeout": "5s"}},
                }
            }
        )
        dependencies = ChannelDependencies(store=MemoryStore(), clock=Hands(), stack=stack)
        opened = await open_webhooks(settings, dependencies)
        assert opened is not None
        async with asyncio.TaskGroup() as tasks:
            waiting = [
                tasks.create_task(opened.notifier.post(name, NewMessage(message, nonce=f"{name}/{number}")))
                for name in SLOW
                for number in range(AT_ONCE)
            ]
            await asyncio.sleep(0)  # they ask for a connection first
            await opened.notifier.post("quick", NewMessage(message, nonce="n1"))
            for task in waiting:
                task.cancel()
    assert len(quick.bodies) == 1
