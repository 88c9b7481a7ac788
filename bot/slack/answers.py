"""This file answers one person where they made their gesture, and fetches what they sent along."""

from typing import Any

import structlog

from bot.slack.blocks import SlackMessage, render
from bot.slack.calling import SlackCalls
from bot.slack.files import download, upload
from bot.slack.heard import Heard
from bot.telling.speaking import Permanent, SendError
from collectors.facts.errors import SourceError
from commands.command import Answer
from commands.desk import Upload

log = structlog.get_logger(__name__)

FILE_AT_MOST = 1_000_000  # bytes of a file that comes with a line
FILES_AT_MOST = 5


class SlackAnswers:
    """`bot/inbox.py`'s Answers: for one person's eyes, unless the answer is for everybody there.

    A click on a message for one person (a preview) replaces that message; a click on a card leaves the card.
    """

    def __init__(self, calls: SlackCalls) -> None:
        self._calls = calls

    async def give(self, heard: Heard, answer: Answer) -> None:
        """Say it by the nearest way that works. Raises SendError when none does."""
        message = render(answer.message)
        if heard.channel.startswith("D"):
            channel = heard.channel
            await self._direct(heard, message)
        elif not await self._responded(heard, message, is_public=answer.is_public):
            channel = await self._in_channel(heard, message, is_public=answer.is_public)
        else:
            channel = ""
        if message.files:
            await self._attach(heard, message, channel)

    async def files(self, heard: Heard) -> tuple[Upload, ...]:
        """What came with the gesture, fetched. Raises SourceError."""
        if len(heard.files) > FILES_AT_MOST:
            raise SourceError(f"{len(heard.files)} files came along, I take {FILES_AT_MOST}", temporary=False)
        found = []
        for file in heard.files:
            try:
                content = await download(self._calls, file.address, at_most=FILE_AT_MOST)
            except SendError as error:
                raise SourceError(
                    f"{file.name}: {error}", temporary=not isinstance(error, Permanent)
                ) from error
            found.append(Upload(name=file.name, content=content))
        return tuple(found)

    async def _responded(self, heard: Heard, message: SlackMessage, *, is_public: bool) -> bool:
        """Answer through the gesture's own address; it is good for five answers and half an hour."""
        if not heard.response_url:
            return False
        body = {
            **message.arguments(),
            "response_type": "in_channel" if is_public else "ephemeral",
            "replace_original": heard.is_click and heard.is_ephemeral and not is_public,
        }
        if heard.thread_ts:
            body["thread_ts"] = heard.thread_ts
        try:
            await self._calls.call("response_url", self._respond(heard.response_url, body))
        except SendError as error:
            log.info("slack.response_refused", why=str(error))
            return False
        return True

    async def _respond(self, address: str, body: dict[str, Any]) -> None:
        async with self._calls.session.post(address, json=body) as answer:
            words = (await answer.text())[:200]
            if answer.status != 200 or '"ok":false' in words.replace(" ", ""):
                raise Permanent(f"response_url: {answer.status}")

    async def _direct(self, heard: Heard, message: SlackMessage) -> None:
        """In a conversation of two, everything is for one person: a message that stays is best."""
        await self._calls.call(
            "chat.postMessage",
            self._calls.client.chat_postMessage(
                channel=heard.channel,
                **message.arguments(),
                thread_ts=heard.thread_ts or None,
                unfurl_links=False,
            ),
        )

    async def _in_channel(self, heard: Heard, message: SlackMessage, *, is_public: bool) -> str:
        client, thread = self._calls.client, heard.thread_ts or None
        said = message.arguments()
        try:
            if is_public:
                call = client.chat_postMessage(channel=heard.channel, thread_ts=thread, **said)
                await self._calls.call("chat.postMessage", call)
                return heard.channel
            call = client.chat_postEphemeral(
                channel=heard.channel, user=heard.user_id, thread_ts=thread, **said
            )
            await self._calls.call("chat.postEphemeral", call)
        except Permanent as error:
            log.info("slack.answered_directly", why=str(error))
            return await self._to_person(heard, message)
        return ""

    async def _to_person(self, heard: Heard, message: SlackMessage) -> str:
        """They, or we, are not in that channel: answer in our own conversation with them."""
        channel = await self._conversation(heard.user_id)
        await self._calls.call(
            "chat.postMessage", self._calls.client.chat_postMessage(channel=channel, **message.arguments())
        )
        return channel

    async def _conversation(self, user: str) -> str:
        opened = await self._calls.call(
            "conversations.open", self._calls.client.conversations_open(users=user)
        )
        return str(opened["channel"]["id"])

    async def _attach(self, heard: Heard, message: SlackMessage, channel: str) -> None:
        """Files cannot be for one person in a channel: they go to our conversation with them."""
        try:
            where = channel or await self._conversation(heard.user_id)
            for file in message.files[:FILES_AT_MOST]:
                await upload(self._calls, file, file.name, channel=where, thread=None)
        except SendError as error:
            log.warning("slack.file_lost", user=heard.user_id, why=str(error))
