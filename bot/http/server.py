"""The HTTP server: command lines from tokens, alerts of others, Slack's events, health, metrics."""

import asyncio
import os
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Protocol
from uuid import uuid4

import msgspec
from aiohttp import web
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

from bot.http.connections import Connections
from bot.http.gate import error_answer, guarded
from bot.http.line_answer import line_answer
from bot.http.senders import NO_TOKEN, Sender, sender_of
from bot.language.message_catalogue import ENGLISH, Catalogue
from bot.metrics import Metrics
from collectors.facts.clock import Clock
from collectors.facts.sentences import english
from collectors.internal_errors import InternalErrors
from commands.core.command import Handler
from commands.core.request import Request, Upload
from commands.execution.plan import Origin

MAX_BODY = 4 << 20  # a webhook brings all alerts of a group at once
MAX_FILE = 256 << 10  # bytes of a file that comes with a line
MOST_FILES = 4
Respond = Callable[[web.Request], Awaitable[web.StreamResponse]]


class Routes(Protocol):
    """More endpoints."""

    def add_to(self, app: web.Application) -> None:
        """Add the routes to the application."""
        ...


class _File(msgspec.Struct, forbid_unknown_fields=True):
    name: Annotated[str, msgspec.Meta(max_length=200)]
    content: Annotated[bytes, msgspec.Meta(max_length=MAX_FILE)]  # base64


class _Line(msgspec.Struct, forbid_unknown_fields=True):
    line: str
    files: Annotated[list[_File], msgspec.Meta(max_length=MOST_FILES)] = []  # that come with it
    id: str = ""  # chosen by the sender; a repeated id runs once


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoints:
    """What the server needs. `not_ready` returns why Yardmaster is not ready, or an empty string."""

    take: Handler
    clock: Clock
    metrics: Metrics
    not_ready: Callable[[], str]
    senders: Sequence[Sender] = ()
    slack: Respond | None = None
    routes: Sequence[Routes] = ()
    catalogue: Catalogue = ENGLISH


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
        actor = sender_of(request.headers, endpoints.senders)
        if actor is None:
            return error_answer(401, NO_TOKEN)
        try:
            body = msgspec.json.decode(await request.read(), type=_Line)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            return error_answer(400, f'the body must be {{"line": "node list"}}: {error}')
        id = f"http/{actor.id}/{body.id or uuid4().hex}"
        command = Request(
            id=id,
            line=body.line,
            actor=actor,
            at=endpoints.clock.now(),
            origin=Origin(via="terminal"),
            uploads=tuple(Upload(name=one.name, content=one.content) for one in body.files),
        )
        answer = line_answer(await endpoints.take(command), endpoints.catalogue)
        return web.Response(
            body=msgspec.json.encode(answer, enc_hook=english), content_type="application/json"
        )

    app.router.add_get("/healthz", healthz)
    app.router.add_get("/readyz", readyz)
    app.router.add_get("/metrics", metrics)
    app.router.add_post("/api/yard/lines", lines)
    if endpoints.slack is not None:
        app.router.add_post("/slack/events", endpoints.slack)
    for one in endpoints.routes:
        one.add_to(app)
    return app


class ListenError(Exception):
    """Cannot listen on the address. The text says which, why, and what to do."""


class Server:
    """Listens until stopped. `address` is set after the start, also for port 0."""

    def __init__(
        self, app: web.Application, listen: str, connections: Connections, errors: InternalErrors
    ) -> None:
        self._runner = web.AppRunner(app, access_log=None)
        self._connections = connections
        self._errors = errors
        self._listener: asyncio.Server | None = None
        self._listen = listen
        self._host, _, port = listen.rpartition(":")
        self._port = int(port)
        self.address = ""

    async def start(self) -> None:
        """Start listening, if not started yet. Raises ListenError."""
        if self.address:
            return
        await self._runner.setup()
        server = self._runner.server
        assert server is not None
        server.request_handler = guarded(server.request_handler, self._connections, self._errors)
        try:
            self._listener = await asyncio.get_running_loop().create_server(
                partial(self._connections.protocol_of, server),
                self._host.strip("[]") or "0.0.0.0",
                self._port,
                backlog=self._connections.backlog,
            )
        except OSError as error:
            await self._runner.cleanup()
            is_system = (error.errno or 0) > 0  # resolver errors have other numbers
            reason = os.strerror(error.errno or 0) if is_system else str(error.strerror or error)
            raise ListenError(
                f"cannot listen on {self._listen}: {reason}: check whether another Yardmaster runs here, "
                "or change http.listen"
            ) from error
        host, port = self._listener.sockets[0].getsockname()[:2]
        self.address = f"http://{host}:{port}"

    async def stop(self) -> None:
        if self._listener is not None:
            self._listener.close()
            self._listener = None
        await self._runner.cleanup()
        self.address = ""
