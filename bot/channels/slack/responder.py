"""Answers to a person where they interacted, and downloads of the files they attached."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import Any, TypeVar

import structlog

from alerts.cards.channel_id import kind_and_name
from alerts.cards.message import Context
from alerts.cards.text import text
from bot.channels.interaction import Interaction
from bot.channels.slack.blocks import render
from bot.channels.slack.files import download, upload_text
from bot.channels.slack.forms import SlackForms
from bot.channels.slack.slack_message import SlackMessage
from bot.channels.slack.web_client import SlackClient
from bot.delivery.notifier_protocol import Permanent, Recoverable, SendError
from bot.language.message_catalogue import ENGLISH, Catalogue
from collectors.facts.results import SourceError
from collectors.facts.sentences import listed, said_by, sentence
from commands.core.command import Answer
from commands.core.request import Upload

log = structlog.get_logger(__name__)

IN_DIRECT_MESSAGES = sentence("The file is in your direct messages with Yardmaster.")
MAX_FILE_SIZE = 1_000_000  # bytes of an attached file
MAX_FILES = 5
TRIES = 4  # of an answer, while Slack asks for pauses
LONGEST_PAUSE = timedelta(seconds=10)

T = TypeVar("T")


class SlackResponder:
    """A Responder of `bot/channels/inbox.py`. Answers are ephemeral unless they are public.

    A click on an ephemeral message (a preview) replaces that message, or deletes it where a card says what comes of
    it; a click on a card leaves the card.
    """

    def __init__(
        self, client: SlackClient, catalogue: Catalogue = ENGLISH, forms: SlackForms | None = None
    ) -> None:
        self._client = client
        self._forms = forms
        self._catalogue = catalogue

    async def respond(self, interaction: Interaction, answer: Answer) -> None:
        """Send the answer by the first way that works. Raises SendError when none does."""
        if answer.form and self._forms and await self._forms.opened(interaction, answer.form):
            return
        shown = answer.beside_card or answer.message
        message = render(shown, self._catalogue)
        where = _slack_id(interaction)
        if message.files and where and not where.startswith("D"):  # an ephemeral answer has no files
            note = Context(text=text(IN_DIRECT_MESSAGES))
            message = render(replace(shown, blocks=(*shown.blocks, note)), self._catalogue)
        if (
            answer.has_card
            and interaction.is_click
            and interaction.is_ephemeral
            and await self._deleted(interaction)
        ):
            return
        if not where:  # pressed on the home tab
            channel = await _sent(partial(self._to_person, interaction, message))
        elif where.startswith("D"):
            channel = where
            await _sent(partial(self._direct, interaction, message))
        elif not await self._responded(interaction, message, is_public=answer.is_public):
            channel = await _sent(partial(self._in_channel, interaction, message, is_public=answer.is_public))
        else:
            channel = ""
        if message.files:
            await self._attach(interaction, message, channel)

    async def files(self, interaction: Interaction) -> tuple[Upload, ...]:
        """Download the attached files. Raises SourceError."""
        if len(interaction.files) > MAX_FILES:
            reason = sentence(
                "{number} files are attached; at most {most} are allowed",
                number=len(interaction.files),
                most=MAX_FILES,
            )
            raise SourceError(reason, temporary=False)
        uploads = []
        for file in interaction.files:
            try:
                content = await download(self._client, file.address, at_most=MAX_FILE_SIZE)
            except SendError as error:
                raise SourceError(
                    listed((file.name, said_by(error)), ":"), temporary=not isinstance(error, Permanent)
                ) from error
            uploads.append(Upload(name=file.name, content=content))
        return tuple(uploads)

    async def _deleted(self, interaction: Interaction) -> bool:
        """Delete the message that was pressed, and return whether that was done."""
        if not interaction.answer_to:
            return False
        try:
            await self._client.call(
                "response_url", self._respond(interaction.answer_to, {"delete_original": True})
            )
        except SendError as error:
            log.info("slack refused a response", reason=str(error))
            return False
        return True

    async def _responded(self, interaction: Interaction, message: SlackMessage, *, is_public: bool) -> bool:
        """Answer through the interaction's response_url, which allows five answers within half an hour."""
        if not interaction.answer_to:
            return False
        body = {
            **message.arguments(),
            "response_type": "in_channel" if is_public else "ephemeral",
            "replace_original": interaction.is_click and interaction.is_ephemeral and not is_public,
        }
        if interaction.thread:
            body["thread_ts"] = interaction.thread
        try:
            await self._client.call("response_url", self._respond(interaction.answer_to, body))
        except SendError as error:
            log.info("slack refused a response", reason=str(error))
            return False
        return True

    async def _respond(self, address: str, body: dict[str, Any]) -> None:
        async with self._client.session.post(address, json=body) as answer:
            reply = (await answer.text())[:200]
            if answer.status != 200 or '"ok":false' in reply.replace(" ", ""):
                raise Permanent(f"response_url: {answer.status}")

    async def _direct(self, interaction: Interaction, message: SlackMessage) -> None:
        """Answer in a direct conversation with a message that stays: only one person reads it anyway."""
        await self._client.call(
            "chat.postMessage",
            self._client.web.chat_postMessage(
                channel=_slack_id(interaction),
                **message.arguments(),
                thread_ts=interaction.thread or None,
                unfurl_links=False,
            ),
        )

    async def _in_channel(self, interaction: Interaction, message: SlackMessage, *, is_public: bool) -> str:
        client, thread = self._client.web, interaction.thread or None
        content = message.arguments()
        try:
            if is_public:
                call = client.chat_postMessage(channel=_slack_id(interaction), thread_ts=thread, **content)
                await self._client.call("chat.postMessage", call)
                return _slack_id(interaction)
            call = client.chat_postEphemeral(
                channel=_slack_id(interaction), user=interaction.user_id, thread_ts=thread, **content
            )
            await self._client.call("chat.postEphemeral", call)
        except Permanent as error:
            log.info("answered in a direct message", reason=str(error))
            return await self._to_person(interaction, message)
        return ""

    async def _to_person(self, interaction: Interaction, message: SlackMessage) -> str:
        """Answer in a direct message: the person or the bot is not in the channel."""
        channel = await self._conversation(interaction.user_id)
        await self._client.call(
            "chat.postMessage", self._client.web.chat_postMessage(channel=channel, **message.arguments())
        )
        return channel

    async def _conversation(self, user: str) -> str:
        opened = await self._client.call(
            "conversations.open", self._client.web.conversations_open(users=user)
        )
        return str(opened["channel"]["id"])

    async def _attach(self, interaction: Interaction, message: SlackMessage, channel: str) -> None:
        """Upload the files. A channel has no ephemeral files, so they go to a direct message."""
        try:
            where = channel or await self._conversation(interaction.user_id)
            for file in message.files[:MAX_FILES]:
                await upload_text(self._client, file, file.name, channel=where, thread=None)
        except SendError as error:
            log.warning("file upload failed", user=interaction.user_id, reason=str(error))


def _slack_id(interaction: Interaction) -> str:
    _, name = kind_and_name(interaction.channel)
    return name


async def _sent(send: Callable[[], Awaitable[T]]) -> T:
    """Send an answer, again after each pause that Slack asks for: what it refuses so was not sent. Raises SendError."""
    for _ in range(TRIES - 1):
        try:
            return await send()
        except Recoverable as error:
            if error.retry_after is None or error.retry_after > LONGEST_PAUSE:
                raise
            await asyncio.sleep(error.retry_after.total_seconds())
    return await send()
