"""The Notifier protocol: what a kind of channel can do and how fast, and the ways in which sending can fail."""

from dataclasses import KW_ONLY, dataclass
from datetime import datetime, timedelta
from enum import Enum
from typing import Protocol

from alerts.cards.message import Message
from alerts.cards.text import Text
from bot.delivery.rate_limiter import RateLimits
from collectors.facts.sentences import sentence


class SendError(Exception):
    """A message was not sent, or its outcome is unknown."""


class Recoverable(SendError):  # noqa: N818  a kind of SendError
    """It was not sent and can be retried: after `retry_after`, if the chat gave one.

    `is_answer`: the chat is there, and says that it takes nothing just now.
    """

    def __init__(self, reason: str, *, retry_after: timedelta | None = None, is_answer: bool = False) -> None:
        super().__init__(reason)
        self.retry_after = retry_after
        self.is_answer = is_answer or retry_after is not None


class Incomplete(Recoverable):
    """The message was posted, and its files were not attached: an edit attaches what is missing."""

    def __init__(self, reason: str, *, message_id: str) -> None:
        super().__init__(reason)
        self.message_id = message_id


class UnknownOutcome(SendError):  # noqa: N818
    """There was no answer, so it is unknown whether it was sent."""


class Refuses(Enum):
    """What refuses: one message, all of a channel (it is archived), or all of the chat (our token is revoked)."""

    MESSAGE = "message"
    CHANNEL = "channel"
    CHAT = "chat"


class Permanent(SendError):  # noqa: N818
    """It was not sent and needs a person to fix it."""

    def __init__(self, reason: str, *, refuses: Refuses = Refuses.MESSAGE) -> None:
        super().__init__(reason)
        self.refuses = refuses


def unknown_channel(id: str) -> Permanent:
    """Return the refusal of a channel that the settings do not have, such as `webhook:night`."""
    return Permanent(sentence("the settings have no channel {channel}", channel=id), refuses=Refuses.CHANNEL)


class Gone(SendError):  # noqa: N818
    """The message can no longer be changed: somebody deleted it, or its edit window is over."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """A PNG, and what it shows in words."""

    name: str
    content: bytes
    alt: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Capabilities:
    """What a notifier can do; delivery does without the rest.

    `edit`: it changes a message. Without it, a card whose state changes is posted again.
    `thread`: it has replies. Without, a reply counts as said by its card.
    `find`: it finds and deletes its own messages. Without, what may have been posted is posted again, so a second
    post of the same content must do no harm there.
    `repeats_reach_people`: a second post of the same content does some harm: what got no answer is soon posted seldom.
    `buttons`: it shows buttons, as such or as command lines.
    `menus`: it shows menus of buttons. Without, their options are buttons.
    `images`: it takes pictures, which messages then show.
    `direct`: a person's id is a channel of its own: their direct messages.
    `facts`: it reads `Message.facts`, and posts cards of incidents only.
    `at_once`: calls at a time to one channel; a card has one at a time anyway. One where the posts to a channel are
    limited: each is counted when it leaves, before the next begins.
    """

    edit: bool = False
    thread: bool = False
    find: bool = False
    repeats_reach_people: bool = False
    buttons: bool = False
    menus: bool = False
    images: bool = False
    direct: bool = False
    facts: bool = False
    at_once: int = 1
    limits: RateLimits

    def __post_init__(self) -> None:
        if self.at_once > 1 and self.limits.channel.every:
            raise ValueError("posts to a channel that are limited leave one at a time")


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchWindow:
    """When a message that is searched for was posted, if it was. A busy channel has thousands of others."""

    since: datetime
    until: datetime


@dataclass(frozen=True, slots=True)
class NewMessage:
    """A card or a reply to post. `nonce` is stored with it, for `find`; `thread` is the message that it replies to."""

    content: Message | Text
    _: KW_ONLY
    nonce: str
    thread: str | None = None
    broadcast: bool = False


class Notifier(Protocol):
    """A kind of channel. Every call ends within seconds, and raises only SendError.

    Channels have this notifier's own ids here, without the kind: `C0123456`. What it is not capable of is not called.
    """

    @property
    def capabilities(self) -> Capabilities: ...

    async def post(self, channel: str, new: NewMessage) -> str:
        """Post a card or a reply and return the message's id.

        Raises Incomplete where it was posted without its files.
        """
        ...

    async def edit(self, channel: str, message_id: str, message: Message) -> None: ...

    async def find(
        self, channel: str, nonce: str, window: SearchWindow, thread: str | None = None
    ) -> tuple[str, ...]:
        """Return our own messages with this nonce, posted within the window, the oldest first."""
        ...

    async def delete(self, channel: str, message_id: str) -> None: ...

    async def upload(self, channel: str, picture: Picture, *, thread: str) -> str:
        """Upload a picture to a card's thread. Return its id, for an Image in messages to that channel."""
        ...
