"""An open channel: its notifier and, where people can write in it, how they do."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field

from aiohttp import web

from alerts.store import Store
from bot.channels.form_names import Suggest
from bot.channels.heartbeats import Heartbeat
from bot.channels.home_tabs import HomePublisher
from bot.channels.inbox import Responder
from bot.chat_accounts import Directory
from bot.delivery.notifier_protocol import Notifier
from bot.language.message_catalogue import ENGLISH, Catalogue
from bot.supervise import Work
from collectors.facts.clock import Clock
from collectors.internal_errors import InternalErrors


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelDependencies:
    """What opening a kind of channel needs beside the settings. `stack` closes what is opened.

    `catalogue`: the language of what it shows.
    """

    store: Store
    clock: Clock
    stack: AsyncExitStack
    catalogue: Catalogue = ENGLISH
    errors: InternalErrors = field(default_factory=InternalErrors)


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """How people write in a kind of channel. `parts` store their interactions, which the inbox handles."""

    directory: Directory
    responder: Responder
    parts: Mapping[str, Work]
    receive: Callable[[web.Request], Awaitable[web.StreamResponse]] | None = None  # at /slack/events
    listen_connected: Callable[[Callable[[], None]], None] = lambda _listener: None
    listen_suggestions: Callable[[Suggest], None] = lambda _suggest: None  # what fills the menus of forms
    home: HomePublisher | None = None  # where each person has a page of their own


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenChannel:
    """A kind of channel in operation. `default`: its own id of the channel for what no route claims, if it has one."""

    notifier: Notifier
    default: str = ""
    conversation: Conversation | None = field(default=None)
    heartbeats: Sequence[Heartbeat] = ()
