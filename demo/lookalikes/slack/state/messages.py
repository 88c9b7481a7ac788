"""Messages with their histories, and who may see each."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from demo.lookalikes.slack.kit.visible_text import said
from demo.lookalikes.slack.state.bounded import Bounded

_EVENTS = 1000
_MESSAGES = 50_000
_EPHEMERALS = 5_000


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageEvent:
    """One event in the history of a message."""

    #: posted, edited or deleted.
    what: str
    at: datetime
    #: The message after the event.
    body: dict[str, Any]


@dataclass(slots=True, kw_only=True)
class Message:
    """A message in a channel, as Slack stores it (`body`), and its history."""

    channel: str
    body: dict[str, Any]
    history: list[MessageEvent] = field(default_factory=list)
    #: The number of edits.
    edits: int = 0
    deleted: bool = False
    #: The only reader of an ephemeral message.
    only_for: str | None = None

    def lived(self, event: MessageEvent) -> None:
        """Record an event; when there are too many, the first and the latest ones are kept."""
        self.history.append(event)
        self.edits += event.what == "edited"
        if len(self.history) > _EVENTS:
            del self.history[1]

    @property
    def ts(self) -> str:
        return str(self.body["ts"])

    @property
    def text(self) -> str:
        return str(self.body.get("text", ""))

    @property
    def blocks(self) -> list[dict[str, Any]]:
        return list(self.body.get("blocks") or ())

    @property
    def attachments(self) -> list[dict[str, Any]]:
        return list(self.body.get("attachments") or ())

    @property
    def metadata(self) -> dict[str, Any] | None:
        return self.body.get("metadata")

    @property
    def user(self) -> str:
        return str(self.body.get("user", ""))

    @property
    def by_bot(self) -> bool:
        return "bot_id" in self.body

    @property
    def thread_ts(self) -> str | None:
        return self.body.get("thread_ts")

    @property
    def is_reply(self) -> bool:
        return self.thread_ts is not None and self.thread_ts != self.ts

    @property
    def broadcast(self) -> bool:
        return self.body.get("subtype") == "thread_broadcast"

    @property
    def said(self) -> str:
        """The text that a reader sees."""
        return said(self.body)

    def __str__(self) -> str:
        return self.said


class Conversations:
    """All messages of all channels, in order, including deleted ones."""

    def __init__(self) -> None:
        self._by_channel: dict[str, dict[str, Message]] = {}
        self._replies: dict[tuple[str, str], list[Message]] = Bounded(_MESSAGES)
        self.ephemeral: dict[str, Message] = Bounded(_EPHEMERALS)

    def keep(self, message: Message) -> None:
        """Store a new message."""
        if message.only_for:
            self.ephemeral[message.ts] = message
            return
        self._by_channel.setdefault(message.channel, Bounded(_MESSAGES))[message.ts] = message
        if message.is_reply:
            thread = (message.channel, str(message.thread_ts))
            self._replies[thread] = [*self._replies.get(thread, ()), message]

    def find(self, channel: str, ts: str) -> Message | None:
        """Return the message at `ts`, unless it was deleted."""
        message = self._by_channel.get(channel, {}).get(ts)
        return None if message is None or message.deleted else message

    def all_in(self, channel: str) -> Iterator[Message]:
        """Iterate over all messages ever posted there, including deleted ones, oldest first."""
        return iter(list(self._by_channel.get(channel, {}).values()))

    def living(self, channel: str) -> list[Message]:
        """Return the messages that exist now, including thread replies, oldest first."""
        return [message for message in self.all_in(channel) if not message.deleted]

    def top_level(self, channel: str) -> list[Message]:
        """Return the messages of the channel itself: no replies, except broadcast ones."""
        return [message for message in self.living(channel) if not message.is_reply or message.broadcast]

    def thread(self, channel: str, ts: str) -> list[Message]:
        """Return a message and its replies, oldest first."""
        parent = self.find(channel, ts)
        replies = [reply for reply in self._replies.get((channel, ts), ()) if not reply.deleted]
        return replies if parent is None else [parent, *replies]


def wired(message: Message, thread: list[Message], *, with_metadata: bool = True) -> dict[str, Any]:
    """Return a message as history returns it, with the counts of its thread."""
    body = dict(message.body)
    replies = [reply for reply in thread if reply.ts != message.ts]
    if replies and not message.is_reply:
        body |= {
            "thread_ts": message.ts,
            "reply_count": len(replies),
            "reply_users_count": len({reply.user for reply in replies}),
            "reply_users": sorted({reply.user for reply in replies}),
            "latest_reply": replies[-1].ts,
            "is_locked": False,
            "subscribed": False,
        }
    if not with_metadata and "metadata" in body:
        # Without include_all_metadata, Slack returns only the type of the event.
        body["metadata"] = {"event_type": body["metadata"].get("event_type")}
    return body
