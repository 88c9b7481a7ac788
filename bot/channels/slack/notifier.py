"""The Slack notifier: posts cards and replies, and finds our own messages by their metadata."""

from collections.abc import AsyncIterator, Awaitable, Callable
from hashlib import blake2b
from typing import Any

import structlog

from alerts.cards.message import Attachment, Message
from alerts.cards.text import Text
from bot.channels.slack.api_errors import RefusedContent
from bot.channels.slack.blocks import render, render_line
from bot.channels.slack.files import upload_picture, upload_text
from bot.channels.slack.rate_limits import SLACK_RATE_LIMITS
from bot.channels.slack.slack_message import SlackMessage
from bot.channels.slack.web_client import SlackClient
from bot.delivery.notifier_protocol import (
    Capabilities,
    Incomplete,
    NewMessage,
    Permanent,
    Picture,
    Recoverable,
    SearchWindow,
    SendError,
)
from bot.language.message_catalogue import ENGLISH, Catalogue
from collectors.facts.sentences import said_by

log = structlog.get_logger(__name__)

EVENT = "yardmaster_card"
PAGE = 200
MAX_PAGES = 10
MAX_FILES = 10
_PERSON = ("U", "W")  # what the ids of people start with; those of channels start with C, D or G
KNOWN_MESSAGES = 5_000  # whose uploaded files are cached, and that were refused


class SlackNotifier:
    """A Notifier of `bot/delivery/notifier_protocol.py`. A card's files go to its thread."""

    capabilities = Capabilities(
        edit=True,
        thread=True,
        find=True,
        buttons=True,
        menus=True,
        images=True,
        direct=True,
        limits=SLACK_RATE_LIMITS,
    )

    def __init__(self, client: SlackClient, catalogue: Catalogue = ENGLISH) -> None:
        self._client = client
        self._catalogue = catalogue
        self._files: dict[str, set[str]] = {}  # channel/ts -> names of the files in its thread
        self._refused: dict[
            bytes, None
        ] = {}  # digests of messages that are refused for their content, oldest first
        self._conversations: dict[str, str] = {}  # person -> the channel of their direct messages

    async def post(self, channel: str, new: NewMessage) -> str:
        rendered = self._rendered(new.content)
        channel = await self._conversation(channel)
        answer, rendered = await self._in_a_form_that_is_taken(
            rendered,
            lambda shown: self._client.call(
                "chat.postMessage",
                self._client.web.chat_postMessage(
                    channel=channel,
                    **shown.arguments(),
                    thread_ts=new.thread,
                    reply_broadcast=True if new.broadcast and new.thread else None,
                    unfurl_links=False,
                    unfurl_media=False,
                    metadata={"event_type": EVENT, "event_payload": {"nonce": new.nonce}},
                ),
            ),
        )
        ts = str(answer["ts"])
        self._remember(channel, ts)
        try:
            await self._attach(rendered, channel, ts, new.thread or ts)
        except Recoverable as error:
            raise Incomplete(said_by(error), message_id=ts) from error
        return ts

    async def edit(self, channel: str, message_id: str, message: Message) -> None:
        rendered = render(message, self._catalogue)
        channel = await self._conversation(channel)
        _, rendered = await self._in_a_form_that_is_taken(
            rendered,
            lambda shown: self._client.call(
                "chat.update",
                self._client.web.chat_update(channel=channel, ts=message_id, **shown.arguments()),
            ),
        )
        await self._attach(rendered, channel, message_id, message_id)

    def _rendered(self, content: Message | Text) -> SlackMessage:
        if isinstance(content, Message):
            return render(content, self._catalogue)
        return render_line(content, self._catalogue)

    async def _conversation(self, channel: str) -> str:
        """Return the channel itself, or that of a person's direct messages."""
        if not channel.startswith(_PERSON):
            return channel
        if channel not in self._conversations:
            opened = await self._client.call(
                "conversations.open", self._client.web.conversations_open(users=channel)
            )
            self._conversations[channel] = str(opened["channel"]["id"])
        return self._conversations[channel]

    async def upload(self, channel: str, picture: Picture, *, thread: str) -> str:
        channel = await self._conversation(channel)
        return await upload_picture(self._client, picture, channel=channel, thread=thread)

    async def _in_a_form_that_is_taken(
        self, rendered: SlackMessage, call: Callable[[SlackMessage], Awaitable[Any]]
    ) -> tuple[Any, SlackMessage]:
        """Make a call with the richest form of the message that Slack does not refuse for its content.

        What it refused is remembered: the refusal counts against the rate of the channel, so the next form may have
        to wait for another call.
        """
        *richer, plainest = rendered.forms
        for form in richer:
            if form.digest in self._refused:
                continue
            try:
                return await call(form), form
            except RefusedContent as error:
                log.warning("message refused for its content, so a plainer one is tried", reason=str(error))
                self._refused[form.digest] = None
                if len(self._refused) > KNOWN_MESSAGES:
                    del self._refused[next(iter(self._refused))]
        return await call(plainest), plainest

    async def find(
        self, channel: str, nonce: str, window: SearchWindow, thread: str | None = None
    ) -> tuple[str, ...]:
        channel = await self._conversation(channel)
        ours = str((await self._client.identity())["bot_id"])
        found = []
        async for rendered in self._messages(channel, window, thread):
            metadata = rendered.get("metadata") or {}
            if (
                metadata.get("event_type") == EVENT
                and metadata.get("event_payload", {}).get("nonce") == nonce
                and rendered.get("bot_id") == ours  # another app may post the same metadata
            ):
                found.append(str(rendered["ts"]))
        return tuple(sorted(found, key=lambda ts: tuple(map(int, ts.split(".")))))

    async def delete(self, channel: str, message_id: str) -> None:
        channel = await self._conversation(channel)
        await self._client.call("chat.delete", self._client.web.chat_delete(channel=channel, ts=message_id))

    async def _messages(
        self, channel: str, window: SearchWindow, thread: str | None
    ) -> AsyncIterator[dict[str, Any]]:
        """Yield the messages in the window, of the channel or a thread. Raises Permanent when there are too many."""
        cursor = ""
        for _ in range(MAX_PAGES):
            parameters: dict[str, Any] = {
                "channel": channel,
                "oldest": f"{window.since.timestamp():.6f}",
                "latest": f"{window.until.timestamp():.6f}",
                "limit": PAGE,
                "include_all_metadata": True,
            }
            if cursor:
                parameters["cursor"] = cursor
            if thread is None:
                answer = await self._client.call(
                    "conversations.history", self._client.web.conversations_history(**parameters)
                )
            else:
                answer = await self._client.call(
                    "conversations.replies", self._client.web.conversations_replies(ts=thread, **parameters)
                )
            for rendered in answer["messages"]:
                yield rendered
            cursor = (answer.get("response_metadata") or {}).get("next_cursor") or ""
            if not cursor:
                return
        raise Permanent(f"more than {PAGE * MAX_PAGES} messages around the one with unknown outcome")

    def _remember(self, channel: str, ts: str) -> set[str]:
        if len(self._files) >= KNOWN_MESSAGES:
            self._files.pop(next(iter(self._files)))
        return self._files.setdefault(f"{channel}/{ts}", set())

    async def _attach(self, rendered: SlackMessage, channel: str, ts: str, thread: str) -> None:
        """Upload the files that are not in the thread yet. Raises Recoverable if that is worth another try.

        A refused upload, for want of a scope, must not fail the card.
        """
        if not rendered.files:
            return
        try:
            known = self._files.get(f"{channel}/{ts}")
            if known is None:  # posted by an earlier process, or nobody knows what became of an upload
                known = self._remember(channel, ts)
                known |= await self._names_in(channel, thread)
            for file in rendered.files[:MAX_FILES]:
                name = _unique(file)
                if name not in known:
                    await upload_text(self._client, file, name, channel=channel, thread=thread)
                    known.add(name)
        except Permanent as error:
            log.warning("file upload refused", channel=channel, ts=ts, reason=str(error))
        except SendError as error:
            self._files.pop(f"{channel}/{ts}", None)
            raise Recoverable(said_by(error)) from error

    async def _names_in(self, channel: str, thread: str) -> set[str]:
        answer = await self._client.call(
            "conversations.replies",
            self._client.web.conversations_replies(channel=channel, ts=thread, limit=PAGE),
        )
        return {
            file.get("name", "") for rendered in answer["messages"] for file in rendered.get("files") or ()
        }


def _unique(file: Attachment) -> str:
    """Return the file's name with a digest of its content, so that the same file is recognized."""
    digest = blake2b(file.content.encode(), digest_size=4).hexdigest()
    stem, dot, kind = file.name.rpartition(".")
    return f"{stem}-{digest}.{kind}" if dot else f"{file.name}-{digest}"
