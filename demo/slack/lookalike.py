"""This file is the Slack look-alike as tests and the demo start it and look at it."""

from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from typing import Any, TypeVar

import aiohttp
from aiohttp import web

from collectors.facts.clock import Clock, SystemClock
from demo.slack.delivery.chores import Chores
from demo.slack.delivery.envelopes import Envelope
from demo.slack.delivery.events import tell_of_message
from demo.slack.delivery.post import Post
from demo.slack.delivery.requests import Requests
from demo.slack.delivery.sockets import Sockets
from demo.slack.driving import Driving
from demo.slack.gestures.desk import Desk
from demo.slack.ordering import Ordering
from demo.slack.page_api import PageApi
from demo.slack.server import application, file_answer
from demo.slack.state.hands import Hands
from demo.slack.state.ledger import Ledger
from demo.slack.state.messages import Message
from demo.slack.state.people import Person
from demo.slack.state.workspace import Manners, Workspace
from demo.slack.web.calling import Caller

Found = TypeVar("Found")


class SlackLookalike(Driving, Ordering):
    """A Slack on 127.0.0.1: Web API, Socket Mode, signed requests, and a page at `slack.page`.

    Use `async with SlackLookalike.running(…) as slack`.
    """

    def __init__(self, workspace: Workspace, chores: Chores) -> None:
        self.workspace = workspace
        self.sockets = Sockets(workspace)
        self.post = Post(workspace, self.sockets, chores)
        self.desk = Desk(workspace=workspace, post=self.post)
        self.caller = Caller(workspace, self.sockets.new_url)
        self.page_api = PageApi(self.desk, file_answer)
        self._session: aiohttp.ClientSession | None = None
        workspace.post_event = self.post.send_beside
        workspace.on_message = tell_of_message

    @classmethod
    @asynccontextmanager
    async def running(
        cls,
        *,
        people: Iterable[str | Person] = ("ana", "bo"),
        channels: Iterable[str] = ("#gpu-alerts",),
        usergroups: Mapping[str, Iterable[str]] | None = None,
        without_bot: Iterable[str] = (),
        private: Iterable[str] = (),
        manners: Manners | None = None,
        name: str = "Yard Lab",
        port: int = 0,
        clock: Clock | None = None,
    ) -> AsyncIterator["SlackLookalike"]:
        """Run one until the block ends.

        Args:
            people: names, or `Person`s for guests and strangers; everybody joins every channel.
            channels: names; the bot is in all but those in `without_bot`.
            usergroups: handles to names of people.
            private: those of `channels` that only members can see.
            port: 0 takes a free one.
        """
        workspace = Workspace(hands=Hands(clock or SystemClock()), manners=manners or Manners(), name=name)
        everyone = [workspace.directory.add_person(person).id for person in people]
        for channel in channels:
            members = set(everyone) if channel in set(without_bot) else {*everyone, workspace.bot.id}
            workspace.directory.add_channel(channel, members, private=channel in set(private))
        for person in everyone:
            workspace.directory.add_direct(person, workspace.bot.id)
        workspace.directory.add_groups(usergroups or {})
        chores = Chores()
        slack = cls(workspace, chores)
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
            await chores.close()
        chores.check()

    @property
    def url(self) -> str:
        """The `api_url` for settings and SDKs; ends in `/api/`."""
        return f"{self.workspace.url}/api/"

    @property
    def page(self) -> str:
        """The address to open in a browser."""
        return f"{self.workspace.url}/"

    @property
    def bot_token(self) -> str:
        return self.workspace.bot_token

    @property
    def app_token(self) -> str:
        return self.workspace.app_token

    @property
    def signing_secret(self) -> str:
        return self.workspace.signing_secret

    @property
    def bot(self) -> str:
        """The bot's user id."""
        return self.workspace.bot.id

    @property
    def calls(self) -> Ledger:
        """The account of every Web API call."""
        return self.workspace.ledger

    @property
    def envelopes(self) -> list[Envelope]:
        """What was sent to the app, in order, each with its deliveries."""
        return list(self.workspace.envelopes)

    def id(self, name: str) -> str:
        """The id of `ana`, `#gpu-alerts`, `@ana` (direct message) or a group's handle."""
        directory = self.workspace.directory
        for group in directory.groups.values():
            if name == group.handle:
                return group.id
        return directory.channel(name).id if name[0] in "#@" else directory.person(name).id

    def messages(self, where: str) -> list[Message]:
        """What stands in a channel now (no thread replies unless broadcast), oldest first."""
        return self.workspace.talk.top_level(self.workspace.directory.channel(where).id)

    def everything(self, where: str) -> list[Message]:
        """Every message ever posted there, replies and deleted ones too, each with its `life`."""
        return list(self.workspace.talk.all_in(self.workspace.directory.channel(where).id))

    def thread(self, message: Message) -> list[Message]:
        """The replies to a message, oldest first."""
        return [reply for reply in self.workspace.talk.thread(message.channel, message.ts) if reply.is_reply]

    def threads(self, where: str) -> dict[str, list[Message]]:
        """The replies of every thread of a channel, by the parent's ts."""
        found = {message.ts: self.thread(message) for message in self.messages(where) if not message.is_reply}
        return {ts: replies for ts, replies in found.items() if replies}

    def ephemerals(self, who: str) -> list[Message]:
        """What only this person sees, oldest first."""
        reader = self.workspace.directory.person(who).id
        return [message for message in self.workspace.talk.ephemeral.values() if message.only_for == reader]

    def views(self, who: str) -> list[dict[str, Any]]:
        """The open modals of a person, top one last."""
        stack = self.workspace.stacks.get(self.workspace.directory.person(who).id, [])
        return [self.workspace.views[ident] for ident in stack]

    def home(self, who: str) -> dict[str, Any] | None:
        """A person's home tab as the app published it."""
        return self.workspace.homes.get(self.workspace.directory.person(who).id)

    def notices(self, who: str) -> list[str]:
        """What Slack itself told a person, such as that a command failed."""
        return list(self.workspace.notices.get(self.workspace.directory.person(who).id, ()))

    def said(self, where: str) -> str:
        """All that stands in a channel, as text, a blank line between messages."""
        return "\n\n".join(message.said for message in self.messages(where))

    def content(self, file_id: str) -> bytes:
        """The bytes of a file."""
        return self.workspace.contents[file_id]

    async def until(self, predicate: Callable[[], Found | None], timeout: float = 10.0) -> Found:
        """Wait for something to be so, looking after every change; returns what the predicate found.

        Raises:
            TimeoutError: with what was said last, to see what happened instead.
        """
        try:
            return await self.workspace.bell.until(predicate, timeout)
        except TimeoutError:
            lines = [f"{call.method}: {call.outcome}" for call in list(self.calls)[-8:]]
            raise TimeoutError(
                f"it did not become so within {timeout} s; the last calls were {lines}"
            ) from None

    async def connected(self, timeout: float = 10.0) -> None:
        """Wait for the app's first socket."""
        await self.until(lambda: bool(self.sockets.connections), timeout)

    async def deliver_to(self, request_url: str) -> None:
        """Switch to HTTP mode: signed requests to the app's request URL, which must pass the challenge first.

        Raises:
            ValueError: it does not.
        """
        if self._session is None:
            self._session = aiohttp.ClientSession()
        requests = Requests(self.workspace, self._session, request_url)
        await requests.verify()
        self.post.request_url = requests
