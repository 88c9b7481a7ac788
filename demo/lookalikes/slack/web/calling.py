"""Handling of every Web API call: faults, token, rate limit, method, record."""

import asyncio
from collections.abc import Callable
from typing import Any

from aiohttp import web

from demo.lookalikes.slack.state.faults import Fault
from demo.lookalikes.slack.state.ledger import Call
from demo.lookalikes.slack.state.workspace import Workspace
from demo.lookalikes.slack.web import chat, conversations, files, reactions, users, views
from demo.lookalikes.slack.web.arguments import Arguments, read_arguments, token_of
from demo.lookalikes.slack.web.errors import SlackError

Method = Callable[[Workspace, Arguments], dict[str, Any]]

METHODS: dict[str, Method] = {
    **chat.METHODS,
    **conversations.METHODS,
    **files.METHODS,
    **reactions.METHODS,
    **users.METHODS,
    **views.METHODS,
}
#: Methods that also count against the channel's rate.
_POSTS = ("chat.postMessage",)
_WITHOUT_TOKEN = ("api.test",)
_WITH_APP_TOKEN = ("apps.connections.open",)


class Caller:
    """Answers the calls of one workspace."""

    def __init__(self, workspace: Workspace, new_socket_url: Callable[[], str]) -> None:
        self._workspace = workspace
        self._closing = asyncio.Event()
        self.methods: dict[str, Method] = METHODS | {
            "api.test": lambda workspace, args: {"args": args.given},
            "apps.connections.open": lambda workspace, args: {"url": new_socket_url()},
        }

    def close(self) -> None:
        """Release the callers that a lost reply keeps waiting."""
        self._closing.set()

    async def answer(self, request: web.Request) -> web.StreamResponse:
        """Answer one call."""
        method = request.match_info["method"]
        workspace = self._workspace
        if down := self._down(request):
            return down
        try:
            given = await read_arguments(request)
        except SlackError as refusal:
            return self._refuse(method, {}, refusal)
        fault = workspace.faults.next_for(method)
        arguments = {name: value for name, value in given.items() if name != "token"}
        if workspace.faults.latency:
            await workspace.clock.sleep(workspace.faults.latency)
        if fault is not None and fault.late:
            # The call is executed even if the caller has disconnected by then, as on a slow Slack.
            await workspace.clock.sleep(fault.late)
        try:
            if fault is not None:
                self._fail(request, method, arguments, fault)
            self._admit(method, token_of(request, given), arguments)
            result = self.methods[method](workspace, Arguments(given))
        except SlackError as refusal:
            return self._refuse(method, arguments, refusal)
        if fault is not None and fault.lose_reply:
            self._record(method, arguments, "lost", 0)
            await self._hang_up(request, hold=fault.hold)
        else:
            self._record(method, arguments, "ok", 200)
        return web.json_response({"ok": True, **result}, headers=self._headers(method))

    def _admit(self, method: str, token: str, arguments: dict[str, Any]) -> None:
        workspace = self._workspace
        if method not in self.methods:
            raise SlackError("unknown_method", req_method=method)
        if method not in _WITHOUT_TOKEN:
            self._check_token(method, token)
        channel = str(arguments.get("channel")) if method in _POSTS and arguments.get("channel") else None
        if wait := workspace.rate_limiter.admit(method, channel, workspace.clock.tick()):
            raise SlackError("ratelimited", status=429, headers={"Retry-After": str(wait)})

    def _check_token(self, method: str, token: str) -> None:
        workspace = self._workspace
        if not token:
            raise SlackError("not_authed")
        if token not in (workspace.bot_token, workspace.app_token):
            raise SlackError("invalid_auth")
        if workspace.token_trouble:
            raise SlackError(workspace.token_trouble)
        expected = workspace.app_token if method in _WITH_APP_TOKEN else workspace.bot_token
        if token != expected:
            raise SlackError("not_allowed_token_type")

    def _fail(self, request: web.Request, method: str, arguments: dict[str, Any], fault: Fault) -> None:
        if fault.lose_call:
            _abort(request)
            raise SlackError("lost_call", status=503)
        headers = {"Retry-After": str(fault.retry_after)} if fault.retry_after is not None else {}
        if fault.error:
            status = fault.status or (429 if fault.error == "ratelimited" else 200)
            if status == 429:
                headers.setdefault("Retry-After", "1")
            raise SlackError(fault.error, status=status, headers=headers)
        if fault.status:
            raise SlackError("internal_error", status=fault.status, headers=headers)

    def _down(self, request: web.Request) -> web.StreamResponse | None:
        match self._workspace.faults.down:
            case "refused":
                _abort(request)
                return web.Response(status=503)
            case "503":
                return web.Response(status=503, text="<html>Slack is down</html>", content_type="text/html")
            case _:
                return None

    def _refuse(self, method: str, arguments: dict[str, Any], refusal: SlackError) -> web.Response:
        self._record(method, arguments, refusal.error, refusal.status)
        return web.json_response(refusal.wire(), status=refusal.status, headers=refusal.headers)

    def _record(self, method: str, arguments: dict[str, Any], outcome: str, status: int) -> None:
        now = self._workspace.clock.now()
        self._workspace.ledger.note(
            Call(at=now, method=method, arguments=arguments, outcome=outcome, status=status)
        )
        self._workspace.changes.publish()

    async def _hang_up(self, request: web.Request, *, hold: bool) -> None:
        if hold:
            await self._closing.wait()
        _abort(request)

    def _headers(self, method: str) -> dict[str, str]:
        scopes = ",".join(self._workspace.options.scopes)
        return {"x-oauth-scopes": scopes} if method == "auth.test" else {}


def _abort(request: web.Request) -> None:
    if request.transport is not None:
        request.transport.abort()
