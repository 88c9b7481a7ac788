"""This file gives the tests of Slack a look-alike of it, our calls, and an app that hears."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass
from datetime import timedelta

import pytest
from slack_bolt.async_app import AsyncApp

from bot.channels.slack.directory import SlackDirectory
from bot.channels.slack.listeners import Interaction, listen
from bot.channels.slack.notifier import SlackNotifier
from bot.channels.slack.responder import SlackResponder
from bot.channels.slack.socket_mode import Socket
from bot.channels.slack.web_client import SlackClient
from bot.settings.secrets import Secret
from demo.lookalikes.slack import Options, Person, SlackLookalike
from demo.lookalikes.slack.lookalike import Members


@dataclass(slots=True, kw_only=True)
class Harness:
    """A workspace, and us in it. `channel` is the id of #gpu-alerts."""

    slack: SlackLookalike
    calls: SlackClient
    notifier: SlackNotifier
    inbox: "asyncio.Queue[Interaction]"
    app: AsyncApp
    socket: Socket
    channel: str

    def listen(self, app: AsyncApp, inbox: "asyncio.Queue[Interaction]") -> None:
        """Make `app` hear."""
        listen(app, inbox, answers=SlackResponder(self.calls), directory=SlackDirectory(self.calls))

    async def heard(self) -> Interaction:
        """What comes in next."""
        async with asyncio.timeout(10):
            return await self.inbox.get()


@pytest.fixture
async def harness(request: pytest.FixtureRequest) -> AsyncIterator[Harness]:
    """Without a socket: a test that hears uses `hearing`. Rates are strict where the test is marked so."""
    strict = request.node.get_closest_marker("strict_rates") is not None
    async with AsyncExitStack() as stack:
        slack = await stack.enter_async_context(
            SlackLookalike.running(
                Members(
                    people=["ana", "bo", Person(name="gus", guest=True)],
                    channels=["#gpu-alerts", "#random", "#elsewhere"],
                    without_bot=["#elsewhere"],
                ),
                options=Options(strict_rates=strict),
            )
        )
        calls = await stack.enter_async_context(
            SlackClient(slack.bot_token, api_url=slack.url, timeout=timedelta(seconds=2))
        )
        inbox: asyncio.Queue[Interaction] = asyncio.Queue(2)
        app = AsyncApp(client=calls.web, request_verification_enabled=False)
        harness = Harness(
            slack=slack,
            calls=calls,
            notifier=SlackNotifier(calls),
            inbox=inbox,
            app=app,
            socket=Socket(app, Secret(value=slack.app_token)),
            channel=slack.id("#gpu-alerts"),
        )
        harness.listen(app, inbox)
        yield harness


@pytest.fixture
async def hearing(harness: Harness) -> AsyncIterator[Harness]:
    """The same, with the socket open."""
    async with asyncio.TaskGroup() as tasks:
        task = tasks.create_task(harness.socket.run())
        await harness.slack.connected()
        yield harness
        task.cancel()
