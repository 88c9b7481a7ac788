"""The HTTP server: command lines from tokens, Slack's events, health, metrics."""

import os
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from uuid import uuid4

import msgspec
from aiohttp import web
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

from bot.http.line_answer import line_answer
from bot.http.senders import Sender, actor_of
from bot.language.phrasebook import ENGLISH, Phrasebook
from bot.metrics import Metrics
from collectors.facts.clock import Clock
from collectors.facts.sentences import english
from commands.core.command import Handler
from commands.core.request import Request
from commands.execution.plan import Origin

MAX_BODY = 1 << 20


class _Line(msgspec.Struct, forbid_unknown_fields=True):
    line: str
    id: str = ""  # chosen by the sender; a repeated id runs once


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoints:
    """What the server needs. `not_ready` returns why Yardmaster is not ready, or an empty string."""

    take: Handler
    clock: Clock
    metrics: Metrics
    not_ready: Callable[[], str]
    senders: Sequence[Sender] = ()
    slack: Callable[[web.Request], Awaitable[web.StreamResponse]] | None = None
    book: Phrasebook = ENGLISH


def application(endpoints: Endpoints) -> web.Application:
    """Return the aiohttp application."""
    app = web.Application(client_max_size=MAX_BODY)

    async def healthz(_: web.Request) -> web.Response:
        return web.Response(text="ok\n")

    async def readyz(_: web.Request) -> web.Response:
        reason = endpoints.not_ready()
        return web.Response(text=f"{reason or 'ok'}\n", status=503 if reason else 200)

    async def metrics(_: web.Request) -> web.Response:
        body = generate_latest(endpoints.metrics.registry)
        return web.Response(body=body, headers={"Content-Type": CONTENT_TYPE_LATEST})

    async def lines(request: web.Request) -> web.Response:
        given = request.headers.get("Authorization", "").removeprefix("Bearer ").strip()
        actor = actor_of(given, endpoints.senders)
        if actor is None:
            return _refused(401, "send a token of http.auth.tokens as `Authorization: Bearer …`")
        try:
            body = msgspec.json.decode(await request.read(), type=_Line)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            return _refused(400, f'the body must be {{"line": "node list"}}: {error}')
        id = f"http/{actor.id}/{body.id or uuid4().hex}"
        command = Request(
            id=id, line=body.line, actor=actor, at=endpoints.clock.now(), origin=Origin(via="terminal")
        )
        answer = line_answer(await endpoints.take(command), endpoints.book)
        return web.Response(
            body=msgspec.json.encode(answer, enc_hook=english), content_type="application/json"
        )

    app.router.add_get("/healthz", healthz)
    app.router.add_get("/readyz", readyz)
    app.router.add_get("/metrics", metrics)
    app.router.add_post("/api/yard/lines", lines)
    if endpoints.slack is not None:
        app.router.add_post("/slack/events", endpoints.slack)
    return app


def _refused(status: int, reason: str) -> web.Response:
    return web.Response(
        body=msgspec.json.encode({"error": reason}, enc_hook=english),
        status=status,
        content_type="application/json",
    )


class ListenError(Exception):
    """Cannot listen on the address. The text says which, why, and what to do."""


class Server:
    """Listens until stopped. `address` is set after the start, also for port 0."""

    def __init__(self, app: web.Application, listen: str) -> None:
        self._runner = web.AppRunner(app, access_log=None)
        self._listen = listen
        self._host, _, port = listen.rpartition(":")
        self._port = int(port)
        self.address = ""

    async def start(self) -> None:
        """Start listening, if not started yet. Raises ListenError."""
        if self.address:
            return
        await self._runner.setup()
        site = web.TCPSite(self._runner, self._host.strip("[]") or "0.0.0.0", self._port)
        try:
            await site.start()
        except OSError as error:
            await self._runner.cleanup()
            is_system = (error.errno or 0) > 0  # resolver errors have other numbers
            reason = os.strerror(error.errno or 0) if is_system else str(error.strerror or error)
            raise ListenError(
                f"cannot listen on {self._listen}: {reason}: check whether another Yardmaster runs here, "
                "or change http.listen"
            ) from error
        host, port = self._runner.addresses[0][:2]
        self.address = f"http://{host}:{port}"

    async def stop(self) -> None:
        await self._runner.cleanup()
        self.address = ""
