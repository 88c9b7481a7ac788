"""The workspace: the whole state of the look-alike, and how messages are posted, edited and deleted."""

import copy
import itertools
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from demo.lookalikes.slack.delivery.envelopes import Envelope
from demo.lookalikes.slack.kit.defaults import filled
from demo.lookalikes.slack.limits import Limits, documented
from demo.lookalikes.slack.state.bounded import Bounded
from demo.lookalikes.slack.state.change_signal import ChangeSignal
from demo.lookalikes.slack.state.clock import WorkspaceClock
from demo.lookalikes.slack.state.faults import Faults
from demo.lookalikes.slack.state.ledger import Ledger
from demo.lookalikes.slack.state.messages import Conversations, Message, MessageEvent, wired
from demo.lookalikes.slack.state.people import HOME, Channel, Directory, Person
from demo.lookalikes.slack.state.rate_limits import RateLimiter
from demo.lookalikes.slack.state.tickets import ResponseUrl, Tickets, Trigger

DEFAULT_SUBSCRIPTIONS = frozenset(
    {"app_mention", "message.im", "app_home_opened", "file_shared", "member_joined_channel"}
)

DEFAULT_SCOPES = (
    "app_mentions:read",
    "channels:history",
    "chat:write",
    "commands",
    "files:read",
    "files:write",
    "groups:history",
    "im:history",
    "im:write",
    "usergroups:read",
    "users:read",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """Settings where Slack leaves a choice, or where a test needs another value."""

    #: The app's name in the workspace, as people mention it.
    bot: str = "yardmaster"
    #: Slash commands, each with the hint that the composer shows.
    commands: tuple[tuple[str, str], ...] = (("/yard", "node list, gpu list, incident list, help"),)
    #: Events that the app subscribed to; `message.channels` and `reaction_added` are possible too.
    subscriptions: frozenset[str] = DEFAULT_SUBSCRIPTIONS
    #: The scopes of the bot token, which `auth.test` answers in a header.
    scopes: tuple[str, ...] = DEFAULT_SCOPES
    #: How long the app may take to acknowledge.
    ack_within: timedelta = timedelta(seconds=3)
    #: Waits before each redelivery of an unacknowledged envelope.
    redelivery: tuple[timedelta, ...] = (timedelta(0), timedelta(minutes=1), timedelta(minutes=5))
    #: Kinds of envelopes that are redelivered. Slack redelivers events only.
    redelivers: frozenset[str] = frozenset({"events_api"})
    #: Messages that a channel accepts at once before the rate of 1 per second applies.
    burst: int = 1
    #: False disables all rate limits.
    strict_rates: bool = True
    #: How long a message can be edited; None for ever.
    edit_window: timedelta | None = None
    #: What the page says to a person in their first minute, in mrkdwn; `{me}` is their name and title.
    welcome: tuple[str, ...] = ()
    #: How long Slack looks at an uploaded file, which a message cannot show before.
    file_processing: timedelta = timedelta(seconds=0.5)
    #: Global and message shortcuts as (callback id, title).
    shortcuts: tuple[tuple[str, str], ...] = (("run_command", "Run a command"),)
    message_shortcuts: tuple[tuple[str, str], ...] = (("what_is_this", "What is this?"),)


@dataclass(slots=True, kw_only=True)
class Workspace:
    """The state of one workspace. Only the methods below change messages."""

    clock: WorkspaceClock
    options: Options = field(default_factory=Options)
    limits: Limits = field(default_factory=documented)
    name: str = "Yard Lab"
    #: Base URL of the server without a trailing slash; known once it listens.
    url: str = ""
    bot_token: str = "xoxb-lookalike-bot"
    app_token: str = "xapp-lookalike-app"
    signing_secret: str = "lookalike-signing-secret"
    #: None while the tokens are valid, else the error of every call (`token_revoked`, `account_inactive`).
    token_trouble: str | None = None
    directory: Directory = field(default_factory=Directory)
    conversations: Conversations = field(default_factory=Conversations)
    changes: ChangeSignal = field(default_factory=ChangeSignal)
    faults: Faults = field(default_factory=Faults)
    ledger: Ledger = field(default_factory=Ledger)
    envelopes: deque[Envelope] = field(default_factory=lambda: deque(maxlen=50_000))
    views: dict[str, dict[str, Any]] = field(default_factory=lambda: Bounded(5_000))
    shown_to: dict[str, str] = field(default_factory=lambda: Bounded(5_000))
    #: What people picked in messages: (person, message ts) to `state.values`.
    picked: dict[tuple[str, str], dict[str, Any]] = field(default_factory=lambda: Bounded(5_000))
    #: The ids of the open modals of each person, top one last.
    stacks: dict[str, list[str]] = field(default_factory=dict)
    homes: dict[str, dict[str, Any]] = field(default_factory=dict)
    files: dict[str, dict[str, Any]] = field(default_factory=lambda: Bounded(2_000))
    contents: dict[str, bytes] = field(default_factory=lambda: Bounded(2_000))
    #: When the uploads were completed, by file.
    completed: dict[str, datetime] = field(default_factory=lambda: Bounded(2_000))
    #: What Slackbot wrote to each person, such as that a command failed.
    notices: dict[str, list[str]] = field(default_factory=dict)
    #: Sends an event to the app without waiting for it.
    post_event: Callable[[Envelope], None] = field(default=lambda envelope: None)
    on_message: Callable[["Workspace", Message], None] = field(default=lambda workspace, message: None)
    tickets: Tickets = field(init=False)
    rate_limiter: RateLimiter = field(init=False)
    bot: Person = field(init=False)
    bot_id: str = "B0YARDBOT00"
    app_id: str = "A0YARDAPP00"
    _numbers: "itertools.count[int]" = field(default_factory=lambda: itertools.count(1))

    def __post_init__(self) -> None:
        self.tickets = Tickets(limits=self.limits)
        self.rate_limiter = RateLimiter(
            limits=self.limits, burst=self.options.burst, strict=self.options.strict_rates
        )
        self.bot = self.directory.add_person(Person(name=self.options.bot, bot=True))

    def new_id(self, letter: str) -> str:
        """Return a new id such as V0000000012."""
        return f"{letter}{next(self._numbers):010d}"

    def post(
        self,
        channel: Channel,
        author: Person,
        content: dict[str, Any],
        *,
        only_for: str | None = None,
    ) -> Message:
        """Post a message to a channel; `content` holds text, blocks, thread_ts and so on."""
        ts = self.clock.next_ts()
        body: dict[str, Any] = {"type": "message", "user": author.id, "ts": ts, "team": author.team}
        if author.bot:
            body |= {"bot_id": self.bot_id, "app_id": self.app_id, "bot_profile": self.bot_profile()}
        else:
            body["client_msg_id"] = self.new_id("m")
        body |= self.finished(content)
        if only_for:
            body["is_ephemeral"] = True
        message = Message(channel=channel.id, body=body, only_for=only_for)
        message.lived(MessageEvent(what="posted", at=self.clock.now(), body=copy.deepcopy(body)))
        self.conversations.keep(message)
        if thread := message.thread_ts:
            parent = self.conversations.find(channel.id, thread)
            if parent is not None and parent is not message:
                body["parent_user_id"] = parent.user
        self.tell(message)
        if not only_for:
            self.on_message(self, message)
        return message

    def edit(self, message: Message, content: dict[str, Any], *, by: Person) -> None:
        """Replace a message's content. A text without blocks removes the old blocks."""
        body = {name: part for name, part in message.body.items() if name not in content}
        if "text" in content and "blocks" not in content:
            body.pop("blocks", None)
        body |= self.finished(content)
        body["edited"] = {"user": by.id, "ts": self.clock.next_ts()}
        message.body = body
        message.lived(MessageEvent(what="edited", at=self.clock.now(), body=copy.deepcopy(body)))
        self.tell(message)

    def delete(self, message: Message) -> None:
        """Delete a message; its history is kept for tests."""
        message.deleted = True
        message.lived(MessageEvent(what="deleted", at=self.clock.now(), body=copy.deepcopy(message.body)))
        self.conversations.ephemeral.pop(message.ts, None)
        self.tell(message)

    def tell(self, message: Message) -> None:
        """Publish the current state of a message."""
        kind = "gone" if message.deleted else "message"
        self.changes.publish(
            {"kind": kind, "channel": message.channel, "only_for": message.only_for, **self.shown(message)}
        )
        if message.is_reply and (parent := self.conversations.find(message.channel, str(message.thread_ts))):
            self.changes.publish(
                {"kind": "message", "channel": parent.channel, "only_for": None, **self.shown(parent)}
            )

    def shown(self, message: Message) -> dict[str, Any]:
        """Return what a page needs to draw a message."""
        thread = self.conversations.thread(message.channel, message.ts)
        return {"ts": message.ts, "message": wired(message, thread)}

    def finished(self, content: dict[str, Any]) -> dict[str, Any]:
        """Return content as Slack stores it: ids filled in, empty parts left out."""
        body = {name: part for name, part in content.items() if part not in (None, [], "") or name == "text"}
        if "blocks" in body:
            body["blocks"] = filled(body["blocks"], lambda: self.new_id("b"))
        if "attachments" in body:
            body["attachments"] = copy.deepcopy(body["attachments"])
            for number, attachment in enumerate(body["attachments"], start=1):
                attachment["id"] = number
                if attachment.get("blocks"):
                    attachment["blocks"] = filled(attachment["blocks"], lambda: self.new_id("b"))
        return body

    def bot_profile(self) -> dict[str, Any]:
        """Return the `bot_profile` of the app's messages."""
        return {
            "id": self.bot_id,
            "app_id": self.app_id,
            "name": self.bot.name,
            "team_id": HOME,
            "deleted": False,
        }

    def new_trigger(self, person: Person, view: str | None = None) -> str:
        """Issue a trigger id for one interaction."""
        ident = f"{next(self._numbers)}.{HOME[1:]}.{person.id.lower()}"
        self.tickets.triggers[ident] = Trigger(id=ident, person=person.id, issued=self.clock.now(), view=view)
        return ident

    def new_response_url(self, person: Person, channel: str, message: Message | None = None) -> str:
        """Issue a response URL for one interaction."""
        ident = self.new_id("R")
        self.tickets.responses[ident] = ResponseUrl(
            id=ident,
            person=person.id,
            channel=channel,
            issued=self.clock.now(),
            message_ts=message.ts if message else None,
            ephemeral=bool(message and message.only_for),
            thread_ts=message.thread_ts if message else None,
        )
        return f"{self.url}/actions/{HOME}/{ident}"

    def notice(self, person: str, text: str) -> None:
        """Send one person a notice from Slackbot."""
        self.notices[person] = [*self.notices.get(person, ())[-99:], text]
        self.changes.publish({"kind": "notice", "only_for": person, "text": text})
