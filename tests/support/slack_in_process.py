"""The Slack look-alike without connections: its methods and limits in virtual time, for the bot's own notifier."""

import asyncio
from collections.abc import Callable
from contextvars import Context
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import aiohttp
from slack_sdk.errors import SlackApiError

from bot.channels.slack.web_client import SlackClient
from collectors.facts.clock import Clock
from demo.lookalikes.slack import SlackLookalike
from demo.lookalikes.slack.delivery.background_tasks import BackgroundTasks
from demo.lookalikes.slack.state.clock import WorkspaceClock
from demo.lookalikes.slack.state.faults import Fault
from demo.lookalikes.slack.state.messages import Message
from demo.lookalikes.slack.state.workspace import Options, Workspace
from demo.lookalikes.slack.web.arguments import Arguments
from demo.lookalikes.slack.web.errors import SlackError

LATENCY = timedelta(milliseconds=100)


class SlackInProcess:
    """A workspace with one channel, and the client of it. `posts` and `visible` say what its people get."""

    def __init__(self, clock: Clock, channel: str = "#alerts") -> None:
        self._clock = WorkspaceClock(clock)
        workspace = Workspace(clock=self._clock, options=Options())
        ana = workspace.directory.add_person("ana").id
        workspace.directory.add_channel(channel, {ana, workspace.bot.id}, private=False, topic="")
        self.lookalike = SlackLookalike(workspace, BackgroundTasks())
        workspace.post_event = lambda *_args, **_more: None
        workspace.on_message = lambda *_args, **_more: None
        self.channel = channel
        self.id = self.lookalike.id(channel)
        self.client = SlackClient(workspace.bot_token, api_url="http://slack.invalid/api/")
        self.client.web = _Web(self)  # type: ignore[assignment]
        self.client.session = SimpleNamespace(post=self._upload)  # type: ignore[assignment]
        self._landing: set[asyncio.Task[Any]] = set()

    async def call(self, method: str, given: dict[str, Any]) -> Any:
        """Answer a call, with the faults that were injected."""
        workspace = self.lookalike.workspace
        await self._clock.sleep(LATENCY.total_seconds() / 2)
        if workspace.faults.down == "503":
            raise _refusal(SlackError("service_unavailable", status=503))
        if workspace.faults.down:
            raise aiohttp.ClientConnectorError(SimpleNamespace(host="slack", port=443, ssl=True), OSError())  # type: ignore[arg-type]
        fault = workspace.faults.next_for(method)
        if fault is not None and fault.lose_call:
            raise aiohttp.ServerDisconnectedError
        if fault is not None and fault.late:
            answer = await self._land_late(method, given, fault.late)
        else:
            answer = self._execute(method, given, fault)
        await self._clock.sleep(LATENCY.total_seconds() / 2)
        if fault is not None and fault.hold:
            await asyncio.Event().wait()
        if fault is not None and fault.lose_reply:
            raise aiohttp.ServerDisconnectedError
        return answer

    def _execute(self, method: str, given: dict[str, Any], fault: Fault | None = None) -> Any:
        caller, workspace = self.lookalike.caller, self.lookalike.workspace
        try:
            if fault is not None:
                caller._fail(None, method, given, fault)  # type: ignore[arg-type]
            caller._admit(method, workspace.bot_token, given)
            answer = {"ok": True, **caller.methods[method](workspace, Arguments(given))}
        except SlackError as refusal:
            caller._record(method, given, refusal.error, refusal.status)
            raise _refusal(refusal) from refusal
        caller._record(method, given, "lost" if fault is not None and fault.lose_reply else "ok", 200)
        return _Answer(answer)

    async def _land_late(self, method: str, given: dict[str, Any], seconds: float) -> Any:
        """Execute the call later, in a task of Slack's own: whoever called may be dead by then."""

        async def land() -> Any:
            await self._clock.sleep(seconds)
            return self._execute(method, given)

        landing = asyncio.get_running_loop().create_task(land(), context=Context())
        self._landing.add(landing)
        landing.add_done_callback(self._landing.discard)
        return await asyncio.shield(landing)

    async def settled(self) -> None:
        """Wait until what is on its way has landed."""
        if self._landing:
            await asyncio.wait(self._landing)

    def _upload(self, address: str, *, data: Any) -> Any:
        self.lookalike.workspace.contents[address.rpartition("/")[2]] = data._fields[0][2]
        return _Uploaded()

    @property
    def everything(self) -> list[Message]:
        """Every message that was ever posted to the channel, replies and deleted ones included."""
        return self.lookalike.everything(self.channel)

    @property
    def posts(self) -> int:
        """How many messages the bot posted, files in threads included."""
        ledger = self.lookalike.workspace.ledger
        return ledger.count("chat.postMessage", "ok") + ledger.count("files.completeUploadExternal", "ok")

    @property
    def refused(self) -> int:
        return self.lookalike.workspace.ledger.count("chat.postMessage", "ratelimited")

    @property
    def cards(self) -> list[Message]:
        return self.lookalike.messages(self.channel)

    def seen(self) -> str:
        """Return all that stands in the channel, its threads and the files attached to them."""
        messages = [*self.lookalike.everything(self.channel)]
        workspace = self.lookalike.workspace
        files = [
            workspace.contents[file["id"]].decode() for one in messages for file in one.body.get("files", ())
        ]
        return "\n".join([*(f"{one.text}\n{one.blocks}\n{one.attachments}" for one in messages), *files])


def _refusal(error: SlackError) -> SlackApiError:
    response = SimpleNamespace(status_code=error.status, data=error.wire(), headers=error.headers)
    return SlackApiError(error.error, response)  # type: ignore[no-untyped-call]


class _Web:
    """The SDK's methods: `chat_postMessage` is `chat.postMessage`."""

    base_url = "http://slack.invalid/api/"

    def __init__(self, slack: SlackInProcess) -> None:
        self._slack = slack

    def __getattr__(self, name: str) -> Callable[..., Any]:
        method = name.replace("_", ".", 1)

        def call(**given: Any) -> Any:
            renamed = {key: value for key, value in given.items() if value is not None}
            return self._slack.call(method, renamed)

        return call


class _Answer(dict[str, Any]):
    @property
    def data(self) -> dict[str, Any]:
        return self

    @property
    def headers(self) -> dict[str, str]:
        return {}


class _Uploaded:
    status = 200

    async def __aenter__(self) -> "_Uploaded":
        return self

    async def __aexit__(self, *_: object) -> None:
        return
