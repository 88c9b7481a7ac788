"""A webhook receiver on loopback that keeps what is posted to it, and answers as a test wants."""

import asyncio
import json
import ssl
from collections import deque
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from tests.support.serving import serving

PATH = "/hook/secret-in-the-path"


@dataclass(slots=True)
class WebhookReceiver:
    """`bodies` in the order of their arrival. `answers`: status and headers of the next answers, then 200.

    `latency`: seconds of each answer. `at_once`: the most requests that were open at a time.
    """

    url: str = ""
    bodies: list[dict[str, Any]] = field(default_factory=list)
    raw: list[bytes] = field(default_factory=list)  # what arrived, taken or not
    headers: list[Mapping[str, str]] = field(default_factory=list)
    answers: deque[tuple[int, Mapping[str, str]]] = field(default_factory=deque)
    latency: float = 0.0
    at_once: int = 0
    _open: int = 0

    def latest(self) -> dict[str, dict[str, Any]]:
        """Return the last body of each group that was accepted, as a receiver keeps it."""
        return {body["groupKey"]: body for body in self.bodies}

    def answer(self, status: int, **headers: str) -> None:
        """Answer the next request like this; its body does not count as received unless the status is 200."""
        self.answers.append((status, {name.replace("_", "-"): value for name, value in headers.items()}))

    async def receive(self, request: web.Request) -> web.Response:
        self._open += 1
        self.at_once = max(self.at_once, self._open)
        try:
            self.raw.append(await request.read())
            body = json.loads(self.raw[-1])
            self.headers.append(dict(request.headers))
            status, headers = self.answers.popleft() if self.answers else (200, {})
            if status == 200:
                self.bodies.append(body)
            if self.latency:
                await asyncio.sleep(self.latency)
            return web.Response(status=status, headers=headers)
        finally:
            self._open -= 1

    @classmethod
    @asynccontextmanager
    async def running(cls, tls: ssl.SSLContext | None = None) -> "AsyncIterator[WebhookReceiver]":
        receiver = cls()
        async with serving(PATH, receiver.receive, tls=tls) as receiver.url:
            yield receiver
