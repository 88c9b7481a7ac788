"""The Slack integration: one client, and the notifier, responder, directory and listeners that use it."""

from collections.abc import Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass

import structlog
from aiohttp import web
from slack_bolt.adapter.aiohttp import to_aiohttp_response
from slack_bolt.async_app import AsyncApp, AsyncBoltRequest
from slack_bolt.authorization import AuthorizeResult

from alerts.store import Store
from bot.channels.intake import Intake
from bot.channels.slack.directory import SlackDirectory
from bot.channels.slack.forms import SlackForms
from bot.channels.slack.home import SlackHome
from bot.channels.slack.listeners import listen, unreadable
from bot.channels.slack.notifier import SlackNotifier
from bot.channels.slack.responder import SlackResponder
from bot.channels.slack.socket_mode import Socket, quiet_logger
from bot.channels.slack.web_client import SlackClient
from bot.delivery.notifier_protocol import Recoverable, UnknownOutcome
from bot.language.message_catalogue import ENGLISH, Catalogue
from bot.settings.channels import SlackSettings
from bot.settings.section import secret
from collectors.facts.clock import Clock
from collectors.facts.sentences import sentence
from collectors.internal_errors import InternalErrors

MAX_DIGITS = 12  # of the time of a request

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class SlackIntegration:
    """All parts of the integration. With an app token events arrive by Socket Mode, else at `/slack/events`."""

    notifier: SlackNotifier
    responder: SlackResponder
    directory: SlackDirectory
    home: SlackHome
    forms: SlackForms
    intake: Intake
    app: AsyncApp
    socket: Socket | None
    errors: InternalErrors

    async def receive(self, request: web.Request) -> web.StreamResponse:
        """Handle an HTTP request from Slack: Bolt checks its signature, and 200 says that it is stored."""
        if not _may_be_signed(request.headers):
            return web.Response(status=401, text="invalid request")
        try:
            received = AsyncBoltRequest(
                body=(await request.read()).decode(),  # Slack signs UTF-8, whatever its Content-Type may say
                query=request.query_string,
                headers=dict(request.headers),
            )
        except Exception:  # Bolt reads it before it checks who sent it, and takes it for what Slack sends
            return web.Response(
                status=400, text=sentence("the body is neither JSON nor a form with JSON in `payload`")
            )
        try:
            response = await self.app.async_dispatch(received)
        except Exception as error:  # Bolt's own, which reads the payload again to report an error
            response = unreadable(error, self.errors)
        return await to_aiohttp_response(response)


def _may_be_signed(headers: Mapping[str, str]) -> bool:
    """Whether Bolt can check its signature: it takes the time for a number, and the signature for ASCII."""
    at, signature = headers.get("X-Slack-Request-Timestamp", "0"), headers.get("X-Slack-Signature", "")
    return at.isascii() and at.isdecimal() and len(at) <= MAX_DIGITS and signature.isascii()


async def open_slack(
    settings: SlackSettings,
    store: Store,
    *,
    clock: Clock,
    stack: AsyncExitStack,
    catalogue: Catalogue = ENGLISH,
    errors: InternalErrors,
) -> SlackIntegration:
    """Open the integration; `stack` closes it. Raises Permanent when Slack refuses the token.

    It also opens while Slack is unreachable: our own identity is then queried when it is needed.
    """
    token = secret(settings.bot_token, settings.bot_token_file)
    assert token is not None
    app_token = secret(settings.app_token, settings.app_token_file)
    signing = secret(settings.signing_secret, settings.signing_secret_file)
    client = await stack.enter_async_context(SlackClient(token(), api_url=settings.api_url))
    try:
        await client.identity()
    except (Recoverable, UnknownOutcome) as error:
        log.warning("slack is unreachable at start", error=str(error))
    app = bolt_app(client, signing_secret=signing() if signing and app_token is None else None)
    intake = Intake(store)
    directory = SlackDirectory(client)
    forms = SlackForms(client, directory, catalogue)
    responder = SlackResponder(client, catalogue, forms)
    home = SlackHome(client, catalogue)
    listen(
        app,
        intake,
        answers=responder,
        directory=directory,
        forms=forms,
        home=home,
        clock=clock,
        errors=errors,
    )
    return SlackIntegration(
        notifier=SlackNotifier(client, catalogue),
        responder=responder,
        directory=directory,
        home=home,
        forms=forms,
        intake=intake,
        app=app,
        socket=Socket(app, app_token) if app_token else None,
        errors=errors,
    )


def bolt_app(client: SlackClient, *, signing_secret: str | None = None) -> AsyncApp:
    """Return a Bolt app that acknowledges after its listener is done, and makes no call of its own.

    Bolt would call auth.test for its first request, and tell people to reinstall the app when that is refused.
    """

    async def authorize(enterprise_id: str | None, team_id: str | None) -> AuthorizeResult:
        identity = client.known_identity
        return AuthorizeResult(
            enterprise_id=enterprise_id,
            team_id=team_id,
            bot_user_id=identity.get("user_id"),
            bot_id=identity.get("bot_id"),
            bot_token=client.web.token,
        )

    return AsyncApp(
        name="yardmaster",  # else Bolt reads the source of every caller to find one
        client=client.without_token(),
        authorize=authorize,
        signing_secret=signing_secret,
        request_verification_enabled=signing_secret is not None,
        process_before_response=True,
        logger=quiet_logger(),
    )
