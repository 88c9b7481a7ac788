"""This file serves our HTTP endpoints: command lines from tokens, Slack's events, health, metrics."""

import hmac
import os
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from uuid import uuid4

import msgspec
import structlog
from aiohttp import web
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

from bot.channels.console.plain_text import plain_text
from bot.metrics import Metrics
from bot.settings.secrets import Secret, SecretError
from collectors.facts.clock import Clock
from commands.core.command import Answer
from commands.core.request import Actor, ActorKind, Request
from commands.plans.plan import Origin

_log = structlog.get_logger()

BODY_AT_MOST = 1 << 20

Take = Callable[[Request], Awaitable[Answer | None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sender:
    """Who a token stands for."""

    actor: Actor
    secret: Secret


class _Line(msgspec.Struct, forbid_unknown_fields=True):
    line: str
    id: str = ""  # the sender's own; the same id is taken once


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoints:
    """What the server needs. `not_ready` gives the reason why we are not ready, or nothing."""

    take: Take
    clock: Clock
    metrics: Metrics
    not_ready: Callable[[], str]
    senders: Sequence[Sender] = ()
    slack: Callable[[web.Request], Awaitable[web.StreamResponse]] | None = None


def application(endpoints: Endpoints) -> web.Application:
    """The aiohttp application."""
    app = web.Application(client_max_size=BODY_AT_MOST)

    async def healthz(_: web.Request) -> web.Response:
        return web.Response(text="ok\n")

    async def readyz(_: web.Request) -> web.Response:
        reason = endpoints.not_ready()
        return web.Response(text=f"{reason or 'ok'}\n", status=503 if reason else 200)

    async def metrics(_: web.Request) -> web.Response:
        body = generate_latest(endpoints.metrics.registry)
        return web.Response(body=body, headers={"Content-Type": CONTENT_TYPE_LATEST})

    async def lines(request: web.Request) -> web.Response:
        actor = _actor(request, endpoints)
        if actor is None:
            return _refused(401, "give a token that http.auth.tokens lists, as `Authorization: Bearer …`")
        try:
            said = msgspec.json.decode(await request.read(), type=_Line)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            return _refused(400, f'the body has to be {{"line": "node list"}}: {error}')
        endpoints.metrics.commands.labels("http").inc()
        id = f"http/{actor.id}/{said.id or uuid4().hex}"
        taken = Request(
            id=id, line=said.line, actor=actor, at=endpoints.clock.now(), origin=Origin(via="terminal")
        )
        answer = await endpoints.take(taken)
        text = plain_text(answer.message) if answer is not None else ""
        return web.Response(body=msgspec.json.encode({"text": text}), content_type="application/json")

    app.router.add_get("/healthz", healthz)
    app.router.add_get("/readyz", readyz)
    app.router.add_get("/metrics", metrics)
    app.router.add_post("/api/yard/lines", lines)
    if endpoints.slack is not None:
        app.router.add_post("/slack/events", endpoints.slack)
    return app


def _actor(request: web.Request, endpoints: Endpoints) -> Actor | None:
    given = request.headers.get("Authorization", "").removeprefix("Bearer ").strip()
    for sender in endpoints.senders if given else ():
        try:
            expected = sender.secret()
        except SecretError as reason:  # one sender's file is away: the others are let in
            _log.warning("a sender's token cannot be read", sender=sender.actor.name, reason=str(reason))
            continue
        if hmac.compare_digest(given.encode(), expected.encode()):
            return sender.actor
    return None


def sender(name: str, secret: Secret, teams: Sequence[str]) -> Sender:
    """The sender behind one token of the settings."""
    return Sender(
        actor=Actor(id=name, name=name, kind=ActorKind.TOKEN, teams=frozenset(teams)), secret=secret
    )


def _refused(status: int, reason: str) -> web.Response:
    return web.Response(
        body=msgspec.json.encode({"error": reason}), status=status, content_type="application/json"
    )


class ListenError(Exception):
    """The address cannot be listened on. The text says which, why, and what to do."""


class Server:
    """Listens until stopped. `address` is known once it runs, also for port 0."""

    def __init__(self, app: web.Application, listen: str) -> None:
        self._runner = web.AppRunner(app, access_log=None)
        self._listen = listen
        self._host, _, port = listen.rpartition(":")
        self._port = int(port)
        self.address = ""

    async def start(self) -> None:
        """Listen, if it does not yet. Raises ListenError."""
        if self.address:
            return
        await self._runner.setup()
        site = web.TCPSite(self._runner, self._host.strip("[]") or "0.0.0.0", self._port)
        try:
            await site.start()
        except OSError as error:
            await self._runner.cleanup()
            is_system = (error.errno or 0) > 0  # a name that nobody knows has a number of another kind
            reason = os.strerror(error.errno or 0) if is_system else str(error.strerror or error)
            raise ListenError(
                f"cannot listen on {self._listen}: {reason}: see whether another Yardmaster runs here, "
                "or set another http.listen"
            ) from error
        host, port = self._runner.addresses[0][:2]
        self.address = f"http://{host}:{port}"

    async def stop(self) -> None:
        await self._runner.cleanup()
        self.address = ""
