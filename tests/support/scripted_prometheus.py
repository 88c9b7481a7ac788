"""A small Prometheus for tests: answers from a script, with fault injection."""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from aiohttp import web

PULSE = "max(timestamp(up))"
Series = Sequence[tuple[Mapping[str, str], float]]


@dataclass
class Truth:
    """The result of each expression over time. Several servers may share it."""

    said: dict[str, list[tuple[float, Series]]] = field(default_factory=dict)

    def say(self, expr: str, *series: tuple[Mapping[str, str], float], since: datetime) -> None:
        """Set the series of the expression from that time on."""
        self.said.setdefault(expr, []).append((since.timestamp(), series))

    def at(self, expr: str, moment: float) -> Series:
        if expr == PULSE:
            return (({}, moment),)
        past = [series for since, series in self.said.get(expr, ()) if since <= moment]
        return past[-1] if past else ()


class ScriptedPrometheus:
    """A server on 127.0.0.1. `trouble` is "", refused, hang, 503, 422 or warnings; `queries` are the received queries.

    `error` is what it answers with 422, and warns of.
    """

    def __init__(self, truth: Truth) -> None:
        self.truth = truth
        self.trouble = ""
        self.error = "fetch series from 10.0.0.7: connection refused"
        self.queries: list[str] = []
        self._port = 0
        self._runner: web.AppRunner | None = None
        self._healed = asyncio.Event()

    @classmethod
    @asynccontextmanager
    async def running(cls, truth: Truth | None = None) -> AsyncIterator["ScriptedPrometheus"]:
        server = cls(truth or Truth())
        await server._listen()
        try:
            yield server
        finally:
            await server._hang_up()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    async def goes(self, trouble: str) -> None:
        """Inject this fault from now on; "" ends it."""
        if trouble == "refused":
            await self._hang_up()
        elif self._runner is None:
            await self._listen()
        self.trouble = trouble
        if trouble != "hang":
            self._healed.set()
            self._healed = asyncio.Event()

    async def _listen(self) -> None:
        app = web.Application()
        app.router.add_route("*", "/{path:.*}", self._answer)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1, handler_cancellation=True)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", self._port, reuse_address=True).start()
        self._port = self._runner.addresses[0][1]

    async def _hang_up(self) -> None:
        if self._runner is not None:
            await self._runner.cleanup()
        self._runner = None

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        form = await request.post()
        expr, moment = str(form.get("query", "")), float(str(form.get("time", 0)))
        self.queries.append(expr)
        if self.trouble == "hang":
            await self._healed.wait()
        if self.trouble == "503":
            return web.Response(status=503, text="upstream is gone")
        if self.trouble == "422":
            refusal = {"status": "error", "errorType": "execution", "error": self.error}
            return web.json_response(refusal, status=422)
        result = [
            {"metric": dict(labels), "value": [moment, f"{value:g}" if expr != PULSE else f"{value:.3f}"]}
            for labels, value in self.truth.at(expr, moment)
        ]
        body: dict[str, Any] = {"status": "success", "data": {"resultType": "vector", "result": result}}
        if self.trouble == "warnings" and expr != PULSE:
            body["data"]["result"] = result[:-1]
            body["warnings"] = [self.error]
        return web.Response(body=_bytes_of(body), content_type="application/json")


def _bytes_of(body: Mapping[str, Any]) -> bytes:
    r"""As Go writes it: text as it is, and bytes that are no text too, which are `\udc80` to `\udcff` here."""
    return json.dumps(body, ensure_ascii=False).encode(errors="surrogateescape")
