"""Connections of the HTTP server: how many there may be, and how long each may keep us waiting.

Anybody who reaches the port can open connections. They must not take the files that the bot needs itself, or keep a
probe of the kubelet out: whoever has waited longest without a whole request makes room for the next.
"""

import asyncio
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from enum import Enum
from typing import Any, cast

import structlog
from aiohttp import web

from bot.metrics import Metrics

MOST = 100  # connections
SHARE = 4  # of the files that the process may open, one in so many may be a connection
MOST_HANDLED = 64  # requests at a time, so that there is always a connection for a probe
REQUEST_WITHIN = 30.0  # seconds for headers and body, from the connection's start or the request's first byte
SAID_AGAIN_AFTER = 60.0  # seconds
CHECK_EVERY = 1.0  # seconds

_log = structlog.get_logger()


class Connections:
    """All open connections. Each waits, the longest first, or has a request that is being handled.

    One that was answered and has sent nothing since is kept for the client's next request, as long as there is room.
    """

    def __init__(self, metrics: Metrics, *, most: int | None = None) -> None:
        self.most = most_connections() if most is None else most
        self._metrics = metrics
        self._waiting: dict[Connection, float] = {}  # -> since when
        self._handled: set[Connection] = set()
        self._check: asyncio.TimerHandle | None = None
        self._closed = 0
        self._said_at = -SAID_AGAIN_AFTER
        for reason in ("crowded", "late"):
            metrics.http_connections_closed.labels(reason)

    @property
    def backlog(self) -> int:
        """How many may wait to be accepted: asyncio accepts so many at once, before it tells us of any."""
        return max(1, self.most // 2)

    def protocol_of(self, server: web.Server) -> asyncio.Protocol:
        """Return the protocol of a new connection, and make room for it."""
        if len(self._waiting) + len(self._handled) >= self.most:
            if not self._waiting:
                self._count("crowded")
                return _Refused()
            self._close(next(iter(self._waiting)), "crowded")
        connection = Connection(server, self)
        self.waits(connection)
        return connection

    @contextmanager
    def handling(self, request: web.Request, *, always: bool = False) -> Iterator[bool]:
        """Let its connection take as long as its handler does. Gives False if too many are handled, unless `always`."""
        connection = cast(Connection, request.protocol)
        if self._waiting.pop(connection, None) is None:  # it was closed
            yield True
            return
        is_too_many = len(self._handled) >= MOST_HANDLED and not always
        self._handled.add(connection)
        try:
            yield not is_too_many
        finally:
            if connection in self._handled:
                self._handled.remove(connection)
                connection.state = State.IDLE
                self.waits(connection)

    def forget(self, connection: "Connection") -> None:
        self._waiting.pop(connection, None)
        self._handled.discard(connection)
        self._metrics.http_connections.set(len(self._waiting) + len(self._handled))

    def waits(self, connection: "Connection") -> None:
        """Begin its time."""
        loop = asyncio.get_running_loop()
        self._waiting.pop(connection, None)
        self._waiting[connection] = loop.time()
        self._metrics.http_connections.set(len(self._waiting) + len(self._handled))
        if self._check is None:
            self._check = loop.call_later(CHECK_EVERY, self._close_late)

    def _close_late(self) -> None:
        loop = asyncio.get_running_loop()
        for connection, since in list(self._waiting.items()):
            if loop.time() - since < REQUEST_WITHIN:
                break
            if connection.state is not State.IDLE:
                self._close(connection, "late")
        self._check = loop.call_later(CHECK_EVERY, self._close_late) if self._waiting else None

    def _close(self, connection: "Connection", reason: str) -> None:
        self.forget(connection)
        connection.hang_up()
        if reason == "crowded" or connection.state is State.SENDS:
            self._count(reason)

    def _count(self, reason: str) -> None:
        self._metrics.http_connections_closed.labels(reason).inc()
        self._closed += 1
        now = asyncio.get_running_loop().time()
        if now - self._said_at >= SAID_AGAIN_AFTER:
            self._said_at = now
            _log.warning("http connections closed", closed=self._closed, reason=reason, most=self.most)


class State(Enum):
    """What the client of a connection has sent since it was opened, or since its last answer."""

    SILENT = "nothing yet"
    SENDS = "a part of a request"
    IDLE = "nothing since it was answered"


class Connection(web.RequestHandler):
    """aiohttp's connection, which tells when it begins and ends."""

    def __init__(self, server: Any, connections: Connections) -> None:
        super().__init__(server, loop=asyncio.get_running_loop(), access_log=None)  # type: ignore[arg-type]
        self._connections = connections
        self._is_hung_up = False
        self.state = State.SILENT

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        if self._is_hung_up:
            self.hang_up()

    def connection_lost(self, exc: BaseException | None) -> None:
        super().connection_lost(exc)
        self._connections.forget(self)

    def data_received(self, data: bytes) -> None:
        if self.state is State.IDLE and not self._is_hung_up:
            self._connections.waits(self)
        self.state = State.SENDS
        super().data_received(data)

    def hang_up(self) -> None:
        """Close it at once, also one that is not made yet."""
        self._is_hung_up = True
        if self.transport is not None:
            self.transport.abort()


class _Refused(asyncio.Protocol):
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        cast(asyncio.Transport, transport).abort()


def most_connections() -> int:
    """Return how many connections there may be: a part of the files that this process may have open."""
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return MOST if files == resource.RLIM_INFINITY else max(4, min(MOST, files // SHARE))
