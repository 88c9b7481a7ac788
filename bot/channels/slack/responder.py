"""This file answers one person where they made their gesture, and fetches what they sent along."""

from typing import Any

import structlog

from bot.channels.slack.blocks import SlackMessage, render
from bot.channels.slack.files import download, upload
from bot.channels.slack.interactions import Interaction
from bot.channels.slack.web_client import SlackClient
from bot.delivery.notifier_protocol import Permanent, SendError
from collectors.facts.results import SourceError
from commands.core.command import Answer
from commands.core.request import Upload

log = structlog.get_logger(__name__)

FILE_AT_MOST = 1_000_000  # bytes of a file that comes with a line
FILES_AT_MOST = 5


class SlackResponder:
    """`bot/channels/inbox.py`'s Answers: for one person's eyes, unless the answer is for everybody there.

    A click on a message for one person (a preview) replaces that message; a click on a card leaves the card.
    """

    def __init__(self, client: SlackClient) -> None:
        self._client = client

    async def respond(self, interaction: Interaction, answer: Answer) -> None:
        """Say it by the nearest way that works. Raises SendError when none does."""
        message = render(answer.message)
        if interaction.channel.startswith("D"):
            channel = interaction.channel
            await self._direct(interaction, message)
        elif not await self._responded(interaction, message, is_public=answer.is_public):
            channel = await self._in_channel(interaction, message, is_public=answer.is_public)
        else:
            channel = ""
        if message.files:
            await self._attach(interaction, message, channel)

    async def files(self, interaction: Interaction) -> tuple[Upload, ...]:
        """What came with the gesture, fetched. Raises SourceError."""
        if len(interaction.files) > FILES_AT_MOST:
            raise SourceError(
                f"{len(interaction.files)} files came along, I take {FILES_AT_MOST}", temporary=False
            )
        found = []
        for file in interaction.files:
            try:
                content = await download(self._client, file.address, at_most=FILE_AT_MOST)
            except SendError as error:
                raise SourceError(
                    f"{file.name}: {error}", temporary=not isinstance(error, Permanent)
                ) from error
            found.append(Upload(name=file.name, content=content))
        return tuple(found)

    async def _responded(self, interaction: Interaction, message: SlackMessage, *, is_public: bool) -> bool:
        """Answer through the gesture's own address; it is good for five answers and half an hour."""
        if not interaction.response_url:
            return False
        body = {
            **message.arguments(),
            "response_type": "in_channel" if is_public else "ephemeral",
            "replace_original": interaction.is_click and interaction.is_ephemeral and not is_public,
        }
        if interaction.thread_ts:
            body["thread_ts"] = interaction.thread_ts
        try:
            await self._client.call("response_url", self._respond(interaction.response_url, body))
        except SendError as error:
            log.info("slack.response_refused", reason=str(error))
            return False
        return True

    async def _respond(self, address: str, body: dict[str, Any]) -> None:
        async with self._client.session.post(address, json=body) as answer:
            words = (await answer.text())[:200]
            if answer.status != 200 or '"ok":false' in words.replace(" ", ""):
                raise Permanent(f"response_url: {answer.status}")

    async def _direct(self, interaction: Interaction, message: SlackMessage) -> None:
        """In a conversation of two, everything is for one person: a message that stays is best."""
        await self._client.call(
            "chat.postMessage",
            self._client.web.chat_postMessage(
                channel=interaction.channel,
                **message.arguments(),
                thread_ts=interaction.thread_ts or None,
                unfurl_links=False,
            ),
        )

    async def _in_channel(self, interaction: Interaction, message: SlackMessage, *, is_public: bool) -> str:
        client, thread = self._client.web, interaction.thread_ts or None
        said = message.arguments()
        try:
            if is_public:
                call = client.chat_postMessage(channel=interaction.channel, thread_ts=thread, **said)
                await self._client.call("chat.postMessage", call)
                return interaction.channel
            call = client.chat_postEphemeral(
                channel=interaction.channel, user=interaction.user_id, thread_ts=thread, **said
            )
            await self._client.call("chat.postEphemeral", call)
        except Permanent as error:
            log.info("slack.answered_directly", reason=str(error))
            return await self._to_person(interaction, message)
        return ""

    async def _to_person(self, interaction: Interaction, message: SlackMessage) -> str:
        """They, or we, are not in that channel: answer in our own conversation with them."""
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
        """Files cannot be for one person in a channel: they go to our conversation with them."""
        try:
            where = channel or await self._conversation(interaction.user_id)
            for file in message.files[:FILES_AT_MOST]:
                await upload(self._client, file, file.name, channel=where, thread=None)
        except SendError as error:
            log.warning("slack.file_lost", user=interaction.user_id, reason=str(error))
