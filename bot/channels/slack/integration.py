"""This file opens the source to Slack: the client, and what hears, speaks, answers and looks up over it."""

import asyncio
from contextlib import AsyncExitStack
from dataclasses import dataclass

import structlog
from aiohttp import web
from slack_bolt.adapter.aiohttp import to_aiohttp_response, to_bolt_request
from slack_bolt.async_app import AsyncApp

from bot.channels.slack.directory import SlackDirectory
from bot.channels.slack.interactions import Interaction
from bot.channels.slack.listeners import listen
from bot.channels.slack.notifier import SlackNotifier
from bot.channels.slack.responder import SlackResponder
from bot.channels.slack.socket_mode import Socket, quiet_logger
from bot.channels.slack.web_client import SlackClient
from bot.delivery.notifier_protocol import Recoverable, UnknownOutcome
from bot.settings.schema import SlackSettings, secret
from collectors.facts.clock import Clock

log = structlog.get_logger(__name__)

INBOX_AT_MOST = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class SlackIntegration:
    """Everything of Slack. With an app token gestures come through a socket, else through `/slack/events`."""

    notifier: SlackNotifier
    responder: SlackResponder
    directory: SlackDirectory
    inbox: "asyncio.Queue[Interaction]"
    app: AsyncApp
    socket: Socket | None

    async def receive(self, request: web.Request) -> web.StreamResponse:
        """Slack's HTTP request: bolt checks its signature; it is acknowledged at once."""
        try:
            response = await self.app.async_dispatch(await to_bolt_request(request))
        except UnicodeDecodeError:
            return web.Response(status=400, text="the body is not UTF-8")
        return await to_aiohttp_response(response)


async def open_slack(settings: SlackSettings, *, clock: Clock, stack: AsyncExitStack) -> SlackIntegration:
    """Open it; `stack` closes it. Raises Permanent when Slack refuses the token.

    While Slack is away it is opened all the same: who we are is asked again when that is needed.
    """
    token = secret(settings.bot_token, settings.bot_token_file)
    assert token is not None
    app_token = secret(settings.app_token, settings.app_token_file)
    signing = secret(settings.signing_secret, settings.signing_secret_file)
    client = await stack.enter_async_context(SlackClient(token(), api_url=settings.api_url))
    try:
        await client.ourselves()
    except (Recoverable, UnknownOutcome) as error:
        log.warning("slack.away_at_the_start", error=str(error))
    app = AsyncApp(
        client=client.web,
        signing_secret=signing() if signing else None,
        request_verification_enabled=app_token is None,
        logger=quiet_logger(),
    )
    inbox: asyncio.Queue[Interaction] = asyncio.Queue(INBOX_AT_MOST)
    answers = SlackResponder(client)
    directory = SlackDirectory(client)
    listen(app, inbox, answers=answers, directory=directory, clock=clock)
    return SlackIntegration(
        notifier=SlackNotifier(client),
        responder=answers,
        directory=directory,
        inbox=inbox,
        app=app,
        socket=Socket(app, app_token) if app_token else None,
    )
