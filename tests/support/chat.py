"""A fake chat for tests: as strict as real ones, with scripted faults."""

import asyncio
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from enum import Enum
from typing import TypeVar

from alerts.cards.message import Message
from alerts.cards.text import plain
from bot.channels.slack.rate_limits import SLACK_RATE_LIMITS
from bot.delivery.notifier_protocol import (
    Capabilities,
    Gone,
    NewMessage,
    Permanent,
    Picture,
    Recoverable,
    Refuses,
    SearchWindow,
    UnknownOutcome,
)

LATENCY = 0.1  # seconds, half before and half after the action
Answer = TypeVar("Answer")
START = datetime(2026, 3, 1, 12, tzinfo=UTC)
CHAT = Capabilities(edit=True, thread=True, find=True, buttons=True, limits=SLACK_RATE_LIMITS)


class LoopClock:
    """A clock that follows the loop's time. A test may set it: `wrong_by` is added to the wall clock alone."""

    wrong_by = timedelta()

    def now(self) -> datetime:
        return START + self.elapsed() + self.wrong_by

    def elapsed(self) -> timedelta:
        return timedelta(seconds=asyncio.get_running_loop().time())


class Fault(Enum):
    LOST_REPLY = "done, and no answer"
    LOST_CALL = "not done, and no answer"
    LATE = "done three seconds later, and no answer"
    HANGS = "done, and the answer never comes"
    BUSY = "429 with Retry-After 7"
    BUSY_FOR_NO_TIME = "429 with Retry-After 0"
    DOWN = "503"
    REFUSED = "this message is refused"
    CLOSED = "the channel is archived"
    REVOKED = "the token is revoked"
    GONE = "the message is gone"


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatMessage:
    ts: str
    channel: str
    thread: str | None
    nonce: str
    text: str
    at: float  # loop time
    broadcast: bool = False
    edits: int = 0
    is_deleted: bool = False


@dataclass(slots=True)
class FakeChat:
    """A Notifier. `messages` are by ts; `script` has the faults of the next calls of each method, None for none."""

    messages: dict[str, ChatMessage] = field(default_factory=dict)
    script: dict[str, deque[Fault | None]] = field(default_factory=dict)
    calls: list[tuple[float, str, str]] = field(default_factory=list)  # loop time, method, channel
    pictures: list[tuple[str, Picture]] = field(default_factory=list)  # with their threads
    closed: set[str] = field(default_factory=set)  # archived channels
    too_fast: int = 0
    seconds_a_post: float = 1.0
    capabilities: Capabilities = CHAT
    _number: int = 0
    _posted: dict[str, float] = field(default_factory=dict)
    _edited: deque[float] = field(default_factory=deque)

    def faults(self, method: str, *faults: Fault | None) -> None:
        self.script.setdefault(method, deque()).extend(faults)

    def said(self, channel: str, thread: str | None = None) -> list[str]:
        """Return the texts that people see there, oldest first."""
        return [
            message.text
            for message in self.messages.values()
            if (message.channel, message.thread) == (channel, thread) and not message.is_deleted
        ]

    def remove(self, text: str) -> None:
        """Delete our message, as a person would."""
        (message,) = (one for one in self.messages.values() if one.text == text and not one.is_deleted)
        self.messages[message.ts] = replace(message, is_deleted=True)

    async def post(self, channel: str, new: NewMessage) -> str:
        now = asyncio.get_running_loop().time()
        if now - self._posted.get(channel, -9) < self.seconds_a_post:
            self.too_fast += 1
            raise Recoverable("ratelimited", retry_after=timedelta(seconds=1))
        shown = new.content.notification if isinstance(new.content, Message) else plain(new.content)

        def land() -> str:
            self._number += 1
            ts = f"{self._number:06}"
            at = asyncio.get_running_loop().time()
            self.messages[ts] = ChatMessage(
                ts=ts,
                channel=channel,
                thread=new.thread,
                nonce=new.nonce,
                text=shown,
                at=at,
                broadcast=new.broadcast,
            )
            return ts

        if new.thread is not None and self.messages[new.thread].is_deleted:
            raise Gone("thread_not_found")
        self._posted[channel] = now
        return await self._call("post", channel, land)

    async def edit(self, channel: str, ts: str, message: Message) -> None:
        now = asyncio.get_running_loop().time()
        while self._edited and now - self._edited[0] >= 60:
            self._edited.popleft()
        if len(self._edited) >= 50:
            self.too_fast += 1
            raise Recoverable("ratelimited", retry_after=timedelta(seconds=30))
        self._edited.append(now)

        def change() -> None:
            posted = self.messages[ts]
            if posted.is_deleted:
                raise Gone("message_not_found")
            self.messages[ts] = replace(posted, text=message.notification, edits=posted.edits + 1)

        await self._call("edit", channel, change)

    async def find(
        self, channel: str, nonce: str, window: SearchWindow, thread: str | None = None
    ) -> tuple[str, ...]:
        def search() -> tuple[str, ...]:
            return tuple(
                one.ts
                for one in self.messages.values()
                if (one.channel, one.thread, one.nonce) == (channel, thread, nonce)
                and not one.is_deleted
                and window.since <= START + timedelta(seconds=one.at) <= window.until
            )

        return await self._call("find", channel, search)

    async def delete(self, channel: str, ts: str) -> None:
        def remove() -> None:
            if self.messages[ts].is_deleted:
                raise Gone("message_not_found")
            self.messages[ts] = replace(self.messages[ts], is_deleted=True)

        await self._call("delete", channel, remove)

    async def upload(self, channel: str, picture: Picture, *, thread: str) -> str:
        def keep() -> str:
            if self.messages[thread].is_deleted:
                raise Gone("thread_not_found")
            self.pictures.append((thread, picture))
            return f"F{len(self.pictures)}"

        return await self._call("upload", channel, keep)

    async def _call(self, method: str, channel: str, action: Callable[[], Answer]) -> Answer:
        loop = asyncio.get_running_loop()
        self.calls.append((loop.time(), method, channel))
        await asyncio.sleep(LATENCY / 2)
        script = self.script.get(method)
        fault = script.popleft() if script else None
        if channel in self.closed:
            fault = Fault.CLOSED
        match fault:
            case Fault.BUSY:
                raise Recoverable("ratelimited", retry_after=timedelta(seconds=7))
            case Fault.BUSY_FOR_NO_TIME:
                raise Recoverable("ratelimited", retry_after=timedelta())
            case Fault.DOWN:
                raise Recoverable("503")
            case Fault.REFUSED:
                raise Permanent("invalid_blocks")
            case Fault.CLOSED:
                raise Permanent("is_archived", refuses=Refuses.CHANNEL)
            case Fault.REVOKED:
                raise Permanent("token_revoked", refuses=Refuses.CHAT)
            case Fault.GONE:
                raise Gone("edit_window_closed")
            case Fault.LOST_CALL:
                raise UnknownOutcome("no answer")
            case Fault.LATE:
                loop.call_later(3, action)
                raise UnknownOutcome("no answer")
            case Fault.LOST_REPLY | Fault.HANGS | None:
                pass
        answer = action()
        await asyncio.sleep(3600 if fault is Fault.HANGS else LATENCY / 2)
        if fault is Fault.LOST_REPLY:
            raise UnknownOutcome("no answer")
        return answer
