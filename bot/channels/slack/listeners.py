"""This file hears Slack: bolt's listeners acknowledge, translate and put on our inbox; nothing is done in them."""

import asyncio
import re
from collections.abc import Awaitable, Callable
from typing import Any

import structlog
from slack_bolt.async_app import AsyncApp

from bot.channels.slack.blocks import ACTION
from bot.channels.slack.directory import SlackDirectory
from bot.channels.slack.interactions import (
    Interaction,
    InteractionFile,
    from_action,
    from_message,
    from_slash,
    from_view,
)
from bot.channels.slack.responder import SlackResponder
from collectors.facts.clock import Clock, SystemClock
from commands.core.pipeline import refused

__all__ = ["BUSY", "Interaction", "InteractionFile", "listen"]

log = structlog.get_logger(__name__)

BUSY = "I have more to do than I can hold. Nothing was done: please try again in a moment."
BUSY_WITHIN = 2.0  # seconds to say that in

Ack = Callable[..., Awaitable[Any]]


def listen(
    app: AsyncApp,
    inbox: "asyncio.Queue[Interaction]",
    *,
    answers: SlackResponder,
    directory: SlackDirectory,
    clock: Clock | None = None,
    command: str = "/yard",
) -> None:
    """Make `app` put every gesture that is meant for us on `inbox`. When it is full, the person is told so."""
    ears = _Listeners(inbox, answers, directory, clock or SystemClock())
    app.command(command)(ears.slash)
    app.event("app_mention")(ears.message)
    app.event("message")(ears.message)
    app.action(re.compile(rf"^{ACTION}(/|$)"))(ears.action)
    app.view(ACTION)(ears.view)
    # What else comes is acknowledged, or Slack would deliver it again.
    app.action(re.compile(".*"))(ears.nothing)
    app.event(re.compile(".*"))(ears.nothing)


class _Listeners:
    def __init__(
        self,
        inbox: "asyncio.Queue[Interaction]",
        answers: SlackResponder,
        directory: SlackDirectory,
        clock: Clock,
    ) -> None:
        self._inbox = inbox
        self._responder = answers
        self._directory = directory
        self._clock = clock

    async def slash(self, ack: Ack, body: dict[str, Any]) -> None:
        await ack()
        await self._receive(from_slash(body, self._clock.now()))

    async def message(self, ack: Ack, body: dict[str, Any], context: dict[str, Any]) -> None:
        await ack()
        bot = context.get("bot_user_id") or ""
        await self._receive(from_message(body, self._clock.now(), bot=bot))

    async def action(self, ack: Ack, body: dict[str, Any], action: dict[str, Any]) -> None:
        await ack()
        await self._receive(from_action(body, action, self._clock.now()))

    async def view(self, ack: Ack, body: dict[str, Any]) -> None:
        await ack()
        await self._receive(from_view(body, self._clock.now()))

    async def nothing(self, ack: Ack) -> None:
        await ack()

    async def _receive(self, interaction: Interaction | None) -> None:
        if interaction is None:
            return
        try:
            self._inbox.put_nowait(interaction)
        except asyncio.QueueFull:
            log.warning("slack.inbox_full", interaction=interaction.id)
            await self._say_busy(interaction)

    async def _say_busy(self, interaction: Interaction) -> None:
        """Not to an outsider, who gets nothing. We run in bolt's task: whatever fails here ends here."""
        try:
            async with asyncio.timeout(BUSY_WITHIN):
                account = await self._directory.account(interaction.user_id)
                if not account.is_outsider:
                    await self._responder.respond(interaction, refused(BUSY))
        except Exception as error:
            log.warning("slack.busy_not_said", reason=type(error).__name__)
