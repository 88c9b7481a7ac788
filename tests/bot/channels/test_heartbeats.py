"""Heartbeats: a receiver gets them while all is well, and only then."""

import asyncio
from contextlib import AsyncExitStack
from datetime import timedelta

from structlog.testing import capture_logs

from bot.channels.heartbeats import Heartbeat, HeartbeatSender
from bot.channels.open_channel import ChannelDependencies
from bot.channels.webhook.opening import open_webhooks
from bot.delivery.notifier_protocol import Permanent, SendError
from bot.settings.schema import Settings
from tests.support.memory_store import MemoryStore
from tests.support.webhook_receiver import WebhookReceiver
from tests.support.yard import NOON, Hands


class Receiver:
    """Counts heartbeats. `error` is what the next ones fail with; `reason` is why all is not well."""

    def __init__(self) -> None:
        self.count = 0
        self.error: SendError | None = None
        self.reason = ""
        self.three = asyncio.Event()

    async def send(self) -> None:
        if self.error is not None:
            raise self.error
        self.count += 1
        if self.count == 3:
            self.three.set()

    def job(self) -> HeartbeatSender:
        every = timedelta(milliseconds=1)
        return HeartbeatSender(
            Heartbeat(channel="webhook:alive", every=every, send=self.send), lambda: self.reason
        )


async def test_heartbeats_come_again_and_again() -> None:
    receiver = Receiver()
    async with asyncio.TaskGroup() as tasks:
        running = tasks.create_task(receiver.job().run())
        await receiver.three.wait()
        running.cancel()


async def test_none_is_sent_while_a_cluster_is_not_evaluated() -> None:
    receiver = Receiver()
    receiver.reason = "evaluation stands still: prod-a"
    job = receiver.job()
    with capture_logs() as logs:
        await job.beat()
        await job.beat()
    assert receiver.count == 0
    assert [one["reason"] for one in logs] == ["evaluation stands still: prod-a"]

    receiver.reason = ""
    await job.beat()
    assert receiver.count == 1


async def test_a_receiver_that_is_down_is_logged_once_and_tried_again() -> None:
    receiver = Receiver()
    receiver.error = Permanent("webhook alive: 404")
    job = receiver.job()
    with capture_logs() as logs:
        await job.beat()
        await job.beat()
    assert [one["reason"] for one in logs] == ["webhook alive: 404"]

    receiver.error = None
    await job.beat()
    assert receiver.count == 1


async def test_a_webhook_with_a_heartbeat_gets_an_alert_that_always_fires() -> None:
    async with AsyncExitStack() as stack:
        receiver = await stack.enter_async_context(WebhookReceiver.running())
        settings = Settings.model_validate(
            {
                "channels": {
                    "alive": {"webhook": {"url": receiver.url, "heartbeat": "1m"}},
                    "night": {"webhook": {"url": receiver.url}},
                }
            }
        )
        dependencies = ChannelDependencies(store=MemoryStore(), clock=Hands(), stack=stack)
        opened = await open_webhooks(settings, dependencies)
        assert opened is not None
        (heartbeat,) = opened.heartbeats
        await heartbeat.send()

    assert (heartbeat.channel, heartbeat.every) == ("webhook:alive", timedelta(minutes=1))
    (body,) = receiver.bodies
    assert (body["version"], body["status"], body["receiver"]) == ("4", "firing", "alive")
    assert "incident" not in body
    (alert,) = body["alerts"]
    assert alert["labels"] == {"alertname": "Watchdog", "severity": "none"}
    assert alert["startsAt"] == NOON.isoformat().replace("+00:00", "Z")
    assert alert["endsAt"] == "0001-01-01T00:00:00Z"
