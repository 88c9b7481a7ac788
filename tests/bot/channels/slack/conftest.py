"""The Slack look-alike, a client of it, and an app that listens."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from datetime import timedelta

import pytest
from slack_bolt.async_app import AsyncApp

from bot.channels.intake import Intake
from bot.channels.interaction import Interaction
from bot.channels.slack.directory import SlackDirectory
from bot.channels.slack.forms import SlackForms
from bot.channels.slack.integration import bolt_app
from bot.channels.slack.listeners import listen
from bot.channels.slack.notifier import SlackNotifier
from bot.channels.slack.responder import SlackResponder
from bot.channels.slack.socket_mode import Socket
from bot.channels.slack.web_client import SlackClient
from bot.settings.secrets import Secret
from demo.lookalikes.slack import Options, Person, SlackLookalike
from demo.lookalikes.slack.lookalike import Members
from tests.support.memory_store import MemoryStore


@dataclass(slots=True, kw_only=True)
class Harness:
    """A workspace with the bot in it. `channel` is the id of #gpu-alerts."""

    slack: SlackLookalike
    calls: SlackClient
    notifier: SlackNotifier
    store: MemoryStore
    intake: Intake
    app: AsyncApp
    socket: Socket
    channel: str
    forms: SlackForms = field(init=False)

    def listen(self, app: AsyncApp) -> None:
        """Register the listeners on `app`. The inbox takes two interactions."""
        directory = SlackDirectory(self.calls)
        self.forms = SlackForms(self.calls, directory)
        responder = SlackResponder(self.calls, forms=self.forms)
        listen(app, self.intake, answers=responder, directory=directory, forms=self.forms)

    async def waiting(self) -> list[Interaction]:
        """Return the stored interactions."""
        async with self.store.unit() as unit:
            return list(await unit.rows(Interaction).find())

    async def received(self) -> Interaction:
        """Return the next interaction, and delete it."""
        async with asyncio.timeout(10):
            while not (waiting := await self.waiting()):  # noqa: ASYNC110 - a row sends no signal
                await asyncio.sleep(0.01)
        async with self.store.unit() as unit:
            await unit.rows(Interaction).delete(waiting[0].id)
        return waiting[0]


@pytest.fixture
async def harness() -> AsyncIterator[Harness]:
    """A harness without a socket; `online` has one."""
    async with AsyncExitStack() as stack:
        slack = await stack.enter_async_context(
            SlackLookalike.running(
                Members(
                    people=["ana", "bo", Person(name="gus", guest=True)],
                    channels=["#gpu-alerts", "#random", "#elsewhere"],
                    without_bot=["#elsewhere"],
                ),
                options=Options(strict_rates=False),
            )
        )
        calls = await stack.enter_async_context(
            SlackClient(slack.bot_token, api_url=slack.url, timeout=timedelta(seconds=2))
        )
        app = bolt_app(calls)
        store = MemoryStore()
        harness = Harness(
            slack=slack,
            calls=calls,
            notifier=SlackNotifier(calls),
            store=store,
            intake=Intake(store, max_waiting=2),
            app=app,
            socket=Socket(app, Secret(value=slack.app_token)),
            channel=slack.id("#gpu-alerts"),
        )
        harness.listen(app)
        async with asyncio.TaskGroup() as tasks:
            task = tasks.create_task(harness.intake.run())
            yield harness
            task.cancel()


@pytest.fixture
async def online(harness: Harness) -> AsyncIterator[Harness]:
    """The harness with its socket open."""
    async with asyncio.TaskGroup() as tasks:
        task = tasks.create_task(harness.socket.run())
        await harness.slack.connected()
        yield harness
        task.cancel()
