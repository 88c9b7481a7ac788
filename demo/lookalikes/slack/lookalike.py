"""The Slack look-alike as tests and the demo run and inspect it."""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar

import aiohttp
from aiohttp import web

from collectors.facts.clock import Clock, SystemClock
from demo.lookalikes.slack.delivery.background_tasks import BackgroundTasks
from demo.lookalikes.slack.delivery.dispatcher import Dispatcher
from demo.lookalikes.slack.delivery.envelopes import Envelope
from demo.lookalikes.slack.delivery.events import tell_of_message
from demo.lookalikes.slack.delivery.requests import Requests
from demo.lookalikes.slack.delivery.sockets import Sockets
from demo.lookalikes.slack.fault_injection import FaultInjection
from demo.lookalikes.slack.interactions.interaction import InteractionContext
from demo.lookalikes.slack.page_api import PageApi
from demo.lookalikes.slack.server import application, file_answer
from demo.lookalikes.slack.state.clock import WorkspaceClock
from demo.lookalikes.slack.state.messages import Message
from demo.lookalikes.slack.state.people import Person
from demo.lookalikes.slack.state.workspace import Options, Workspace
from demo.lookalikes.slack.user_actions import UserActions
from demo.lookalikes.slack.web.calling import Caller

Found = TypeVar("Found")


@dataclass(frozen=True, slots=True, kw_only=True)
class Members:
    """The people and channels of a workspace. All people join every channel; the bot skips `without_bot`."""

    people: Sequence[str | Person]  # names, or `Person`s for guests and strangers
    channels: Sequence[str]
    usergroups: Mapping[str, Sequence[str]] = field(
        default_factory=dict
    )  # handle to the names of its members
    without_bot: Sequence[str] = ()
    private: Sequence[str] = ()  # channels that only members can see
    topics: Mapping[str, str] = field(default_factory=dict)  # by channel


class SlackLookalike(UserActions, FaultInjection):
    """A Slack on 127.0.0.1: Web API, Socket Mode, signed requests, and a web page at `slack.page`.

    Use `async with SlackLookalike.running(…) as slack`.
    """

    def __init__(self, workspace: Workspace, background_tasks: BackgroundTasks) -> None:
        self.workspace = workspace
        self.bot_token, self.app_token = workspace.bot_token, workspace.app_token
        self.signing_secret = workspace.signing_secret
        #: The bot's user id.
        self.bot = workspace.bot.id
        #: The record of every Web API call.
        self.calls = workspace.ledger
        self.sockets = Sockets(workspace)
        self.post = Dispatcher(workspace, self.sockets, background_tasks)
        self.context = InteractionContext(workspace=workspace, post=self.post)
        self.caller = Caller(workspace, self.sockets.new_url)
        self.page_api = PageApi(self.context, file_answer)
        self._session: aiohttp.ClientSession | None = None
        workspace.post_event = self.post.send_beside
        workspace.on_message = tell_of_message

    @classmethod
    @asynccontextmanager
    async def running(
        cls,
        members: Members,
        *,
        options: Options | None = None,
        port: int = 0,
        clock: Clock | None = None,
    ) -> AsyncIterator["SlackLookalike"]:
        """Run a look-alike until the block ends. Port 0 picks a free port."""
        workspace = Workspace(clock=WorkspaceClock(clock or SystemClock()), options=options or Options())
        everyone = [workspace.directory.add_person(person).id for person in members.people]
        for channel in members.channels:
            joined = set(everyone) if channel in members.without_bot else {*everyone, workspace.bot.id}
            workspace.directory.add_channel(
                channel, joined, private=channel in members.private, topic=members.topics.get(channel, "")
            )
        for person in everyone:
            workspace.directory.add_direct(person, workspace.bot.id)
        workspace.directory.add_groups(members.usergroups)
        background_tasks = BackgroundTasks()
        slack = cls(workspace, background_tasks)
        app = application(workspace, slack.caller, slack.sockets, slack.page_api)
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=2.0)
        await runner.setup()
        try:
            site = web.TCPSite(runner, "127.0.0.1", port)
            await site.start()
            workspace.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
            yield slack
        finally:
            slack.caller.close()
            slack.page_api.close()
            await slack.sockets.close()
            if slack._session is not None:
                await slack._session.close()
            await runner.cleanup()
            await background_tasks.close()
        background_tasks.check()

    @property
    def url(self) -> str:
        """The `api_url` for settings and SDKs; it ends with `/api/`."""
        return f"{self.workspace.url}/api/"

    @property
    def page(self) -> str:
        """The address to open in a browser."""
        return f"{self.workspace.url}/"

    @property
    def envelopes(self) -> list[Envelope]:
        """Everything sent to the app, in order, each with its deliveries."""
        return list(self.workspace.envelopes)

    def id(self, name: str) -> str:
        """Return the id of `ana`, `#gpu-alerts`, `@ana` (her direct message) or a group's handle."""
        directory = self.workspace.directory
        for group in directory.groups.values():
            if name == group.handle:
                return group.id
        return directory.channel(name).id if name[0] in "#@" else directory.person(name).id

    def messages(self, where: str) -> list[Message]:
        """Return the messages of a channel, oldest first, without thread replies unless broadcast."""
        return self.workspace.conversations.top_level(self.workspace.directory.channel(where).id)

    def everything(self, where: str) -> list[Message]:
        """Return every message ever posted there, replies and deleted ones included, each with its `history`."""
        return list(self.workspace.conversations.all_in(self.workspace.directory.channel(where).id))

    def thread(self, message: Message) -> list[Message]:
        """Return the replies to a message, oldest first."""
        return [
            reply
            for reply in self.workspace.conversations.thread(message.channel, message.ts)
            if reply.is_reply
        ]

    def threads(self, where: str) -> dict[str, list[Message]]:
        """Return the replies of every thread in a channel, by the parent's ts."""
        found = {message.ts: self.thread(message) for message in self.messages(where) if not message.is_reply}
        return {ts: replies for ts, replies in found.items() if replies}

    def ephemerals(self, who: str) -> list[Message]:
        """Return the messages that only this person sees, oldest first."""
        reader = self.workspace.directory.person(who).id
        return [
            message
            for message in self.workspace.conversations.ephemeral.values()
            if message.only_for == reader
        ]

    def views(self, who: str) -> list[dict[str, Any]]:
        """Return the person's open modals, top one last."""
        stack = self.workspace.stacks.get(self.workspace.directory.person(who).id, [])
        return [self.workspace.views[ident] for ident in stack]

    def home(self, who: str) -> dict[str, Any] | None:
        """Return the person's home tab as the app published it."""
        return self.workspace.homes.get(self.workspace.directory.person(who).id)

    def notices(self, who: str) -> list[str]:
        """Return what Slackbot wrote to a person, such as that a command failed."""
        return list(self.workspace.notices.get(self.workspace.directory.person(who).id, ()))

    def said(self, where: str) -> str:
        """Return a channel's messages as text, separated by blank lines."""
        return "\n\n".join(message.said for message in self.messages(where))

    def content(self, file_id: str) -> bytes:
        """Return the bytes of a file."""
        return self.workspace.contents[file_id]

    async def until(self, predicate: Callable[[], Found | None], timeout: float = 10.0) -> Found:
        """Wait until `predicate()` is true and return its value; it is checked after every change.

        The TimeoutError lists the last calls, to show what happened instead.
        """
        try:
            return await self.workspace.changes.until(predicate, timeout)
        except TimeoutError:
            lines = [f"{call.method}: {call.outcome}" for call in list(self.calls)[-8:]]
            raise TimeoutError(
                f"the condition was not met within {timeout} s; the last calls were {lines}"
            ) from None

    async def connected(self, timeout: float = 10.0) -> None:
        """Wait for the app's first socket."""
        await self.until(lambda: bool(self.sockets.connections), timeout)

    async def deliver_to(self, request_url: str) -> None:
        """Switch to HTTP mode: signed requests to the app's request URL.

        Raise ValueError when that URL does not pass the challenge.
        """
        if self._session is None:
            self._session = aiohttp.ClientSession()
        requests = Requests(self.workspace, self._session, request_url)
        await requests.verify()
        self.post.request_url = requests
