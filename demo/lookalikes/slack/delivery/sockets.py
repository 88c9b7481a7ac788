"""Socket Mode: the app's WebSocket connections, with envelopes out and acknowledgements back."""

import asyncio
import json
from dataclasses import dataclass, field
from typing import Any

from aiohttp import WSMsgType, web

from demo.lookalikes.slack.delivery.envelopes import Envelope
from demo.lookalikes.slack.state.workspace import Workspace


@dataclass(slots=True, eq=False)
class Connection:
    """One WebSocket connection of the app."""

    id: str
    socket: web.WebSocketResponse
    request: web.Request
    waiting: dict[str, "asyncio.Future[dict[str, Any] | None]"] = field(default_factory=dict)


class Sockets:
    """All connections of the app; envelopes go to them round-robin."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._issued: set[str] = set()
        self.connections: list[Connection] = []
        self._turn = 0
        #: Envelope ids that were acknowledged too late, or twice.
        self.late_acks: list[str] = []

    def new_url(self) -> str:
        """Return a URL that is valid for one connection."""
        ticket = self._workspace.new_id("W")
        self._issued.add(ticket)
        base = self._workspace.url.replace("http://", "ws://", 1)
        return f"{base}/link/?ticket={ticket}&app_id={self._workspace.app_id}"

    async def serve(self, request: web.Request) -> web.StreamResponse:
        """Serve one connection until it closes."""
        ticket = request.query.get("ticket", "")
        if ticket not in self._issued:
            raise web.HTTPForbidden(
                text="this URL was already used or never issued: call apps.connections.open again"
            )
        self._issued.discard(ticket)
        socket = web.WebSocketResponse(autoping=True)
        await socket.prepare(request)
        connection = Connection(id=ticket, socket=socket, request=request)
        if len(self.connections) >= self._workspace.limits["sockets_per_app"]:
            await socket.send_json({"type": "disconnect", "reason": "too_many_websockets"})
            await socket.close()
            return socket
        self.connections.append(connection)
        try:
            await socket.send_json(self._hello())
            self._workspace.changes.publish()
            async for frame in socket:
                if frame.type is WSMsgType.TEXT:
                    self._acknowledged(frame.data)
        finally:
            self._lose(connection)
        return socket

    async def deliver(
        self, envelope: Envelope, attempt: int, reason: str
    ) -> tuple[str, str, dict[str, Any] | None]:
        """Send an envelope to one connection and wait for its acknowledgement.

        Return the connection's id, why it failed (empty when acknowledged), and the payload of the response.
        """
        if not self.connections:
            return "", "connection_failed", None
        self._turn += 1
        connection = self.connections[self._turn % len(self.connections)]
        acked: asyncio.Future[dict[str, Any] | None] = asyncio.get_running_loop().create_future()
        connection.waiting[envelope.id] = acked
        try:
            await connection.socket.send_json(envelope.wire(attempt, reason))
            async with asyncio.timeout(self._workspace.options.ack_within.total_seconds()):
                return connection.id, "", await acked
        except TimeoutError:
            return connection.id, "timeout", None
        except ConnectionError:
            return connection.id, "connection_closed", None
        finally:
            connection.waiting.pop(envelope.id, None)

    async def refresh(self) -> None:
        """Request that every connection be reopened, as Slack does every few hours."""
        for connection in list(self.connections):
            await connection.socket.send_json(
                {"type": "disconnect", "reason": "refresh_requested", "debug_info": {"host": "lookalike"}}
            )

    def drop(self) -> int:
        """Abort every connection and return how many there were."""
        lost = list(self.connections)
        for connection in lost:
            self._lose(connection)
            if connection.request.transport is not None:
                connection.request.transport.abort()
        return len(lost)

    async def close(self) -> None:
        """Close every connection."""
        for connection in list(self.connections):
            await connection.socket.close()

    def _acknowledged(self, text: str) -> None:
        answer = json.loads(text)
        ident = str(answer.get("envelope_id", ""))
        for connection in self.connections:
            acked = connection.waiting.get(ident)
            if acked is not None and not acked.done():
                acked.set_result(answer.get("payload"))
                return
        self.late_acks.append(ident)
        self._workspace.changes.publish()

    def _lose(self, connection: Connection) -> None:
        if connection in self.connections:
            self.connections.remove(connection)
        for acked in connection.waiting.values():
            if not acked.done():
                acked.set_exception(ConnectionResetError("the socket is gone"))
        self._workspace.changes.publish()

    def _hello(self) -> dict[str, Any]:
        return {
            "type": "hello",
            "num_connections": len(self.connections),
            "debug_info": {"host": "lookalike", "build_number": 1, "approximate_connection_time": 18060},
            "connection_info": {"app_id": self._workspace.app_id},
        }
