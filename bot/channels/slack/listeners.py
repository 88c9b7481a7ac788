"""Bolt's listeners: they parse interactions and have them stored, and only then acknowledge them."""

import asyncio
import re
from dataclasses import dataclass
from functools import partial
from typing import Any

import structlog
from slack_bolt.async_app import AsyncApp, AsyncBoltRequest
from slack_bolt.response import BoltResponse

from alerts.store import table_of
from bot.channels.intake import InboxFullError, Intake, NotYetStoredError, Receipt, report_outcome
from bot.channels.interaction import Interaction
from bot.channels.slack.directory import SlackDirectory
from bot.channels.slack.elements import ACTION, PEOPLE
from bot.channels.slack.form_view import CHOOSER, FORM, SHORTCUT
from bot.channels.slack.forms import Ack, SlackForms
from bot.channels.slack.home import SlackHome
from bot.channels.slack.interactions import (
    ABOUT,
    from_action,
    from_message,
    from_message_shortcut,
    from_slash,
    from_view,
)
from bot.channels.slack.responder import SlackResponder
from bot.store.documents import decode, encode
from collectors.facts.clock import Clock, SystemClock
from collectors.facts.sentences import sentence
from collectors.internal_errors import InternalErrors
from commands.core.guidance import refused

log = structlog.get_logger(__name__)

BUSY = sentence("Too many commands are waiting. Nothing was done: try again in a moment.")
TAKEN = sentence("Accepted, whatever Slack says: it waits for its turn. Do not send it again.")
NOT_TAKEN = sentence(
    "Not accepted: Yardmaster could not store it, and nothing was done. Send it again in a moment."
)
PENDING = sentence(
    "It is not known yet whether this was accepted. Do not send it again: the outcome is shown here."
)
_WORDS = {Receipt.TAKEN: TAKEN, Receipt.NOT_TAKEN: NOT_TAKEN, Receipt.FULL: BUSY, Receipt.PENDING: PENDING}
TELL_TIMEOUT = 2.0  # seconds to send one of those answers


def listen(
    app: AsyncApp,
    intake: Intake,
    *,
    answers: SlackResponder,
    directory: SlackDirectory,
    forms: SlackForms,
    home: SlackHome | None = None,
    clock: Clock | None = None,
    errors: InternalErrors | None = None,
    command: str = "/yard",
) -> None:
    """Make `app` store every interaction meant for us. It must be one that processes before it responds.

    An interaction that is not stored in time is not acknowledged, so that Slack shows an error, and the person reads
    what became of it: from what was stored, never from a timeout. When too many are waiting, the person gets BUSY.
    What is not as Slack describes it is refused with 400, and contained: its reader is at fault, or the sender.
    """
    contained = errors or InternalErrors()

    async def refuse(error: Exception) -> BoltResponse:
        return unreadable(error, contained)

    app.error(refuse)
    listeners = _Listeners(intake, answers, directory, forms, clock or SystemClock())
    app.command(command)(listeners.slash)
    app.event("app_mention")(listeners.message)
    app.event("message")(listeners.message)
    app.action(re.compile(rf"^({ACTION}|{PEOPLE})(/|$)"))(listeners.action)
    app.view(FORM)(listeners.view)
    app.view(CHOOSER)(forms.chosen)
    app.shortcut(SHORTCUT)(forms.choose)
    app.options(re.compile(rf"^{FORM}/"))(forms.suggested)
    app.shortcut(ABOUT)(listeners.message_shortcut)
    if home is not None:

        async def home_opened(ack: Ack, event: dict[str, Any]) -> None:
            home.opened(event)
            await ack()

        app.event("app_home_opened")(home_opened)
    # Everything else is acknowledged, or Slack would deliver it again.
    app.action(re.compile(".*"))(listeners.nothing)
    app.event(re.compile(".*"))(listeners.nothing)


def unreadable(error: Exception, errors: InternalErrors) -> BoltResponse:
    """Contain what reading a payload raised, and return what refuses it."""
    errors.contain(error, "slack payload")
    return BoltResponse(status=400, body="this is not what Slack's documentation describes")


@dataclass(frozen=True, slots=True)
class _Listeners:
    intake: Intake
    responder: SlackResponder
    directory: SlackDirectory
    forms: SlackForms
    clock: Clock

    async def slash(self, ack: Ack, body: dict[str, Any]) -> BoltResponse | None:
        return await self._receive(from_slash(body, self.clock.now()), ack)

    async def message(
        self, ack: Ack, body: dict[str, Any], context: dict[str, Any], request: AsyncBoltRequest
    ) -> BoltResponse | None:
        interaction = from_message(body, self.clock.now(), bot=context.get("bot_user_id") or "")
        is_first = request.headers.get("x-slack-retry-num", ["0"])[0] == "0"
        return await self._receive(interaction, ack, tells=is_first)

    async def action(self, ack: Ack, body: dict[str, Any], action: dict[str, Any]) -> BoltResponse | None:
        return await self._receive(from_action(body, action, self.clock.now()), ack)

    async def message_shortcut(self, ack: Ack, body: dict[str, Any]) -> BoltResponse | None:
        return await self._receive(from_message_shortcut(body, self.clock.now()), ack)

    async def view(self, ack: Ack, body: dict[str, Any]) -> BoltResponse | None:
        """Refuse a form with mistakes, which Slack shows at its fields; else its line is stored as if it was typed."""
        if errors := self.forms.errors_in(body["view"]):
            await ack(response_action="errors", errors=errors)
            return None
        line = self.forms.line_in(body["view"])
        return await self._receive(from_view(body, line, self.clock.now()), ack)

    async def nothing(self, ack: Ack) -> None:
        await ack()

    async def _receive(
        self, interaction: Interaction | None, ack: Ack, *, tells: bool = True
    ) -> BoltResponse | None:
        """Acknowledge it once it is stored; else return the response that keeps Bolt from acknowledging it.

        Raises ValueError if it could not be read from the store again: then it would be lost without an answer.
        """
        if interaction is not None:
            _check(interaction)
        try:
            if interaction is not None:
                await self.intake.accept(interaction)
        except InboxFullError:
            log.warning("inbox is full", interaction=interaction.id if interaction else "")
            await self._tell(interaction, BUSY)
        except NotYetStoredError as late:
            log.warning("interaction not stored in time", interaction=interaction.id if interaction else "")
            if tells:
                self.intake.follow(report_outcome(late.outcome, partial(self._say, interaction)))
            return BoltResponse(status=503)
        except Exception as error:
            log.warning("interaction not stored", error=repr(error)[:500])
            if tells:
                await self._tell(interaction, NOT_TAKEN)
            return BoltResponse(status=503)
        await ack()
        return None

    async def _say(self, interaction: Interaction | None, receipt: Receipt) -> None:
        await self._tell(interaction, _WORDS[receipt])

    async def _tell(self, interaction: Interaction | None, reason: str) -> None:
        """Answer with the reason, except to an outsider. This runs in Bolt's task, so no error may leave it."""
        try:
            async with asyncio.timeout(TELL_TIMEOUT):
                if interaction is None or (await self.directory.account(interaction.user_id)).is_outsider:
                    return
                await self.responder.respond(interaction, refused(reason))
        except Exception as error:
            log.warning("refusal not delivered", reason=type(error).__name__)


def _check(interaction: Interaction) -> None:
    table = table_of(Interaction)
    if decode(table, encode(table, interaction)) != interaction:
        raise ValueError("a field of the interaction is not what it should be")
