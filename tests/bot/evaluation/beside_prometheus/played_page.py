"""A page of metrics that changes: the series of promtool's cases, one value after the other, over and over.

A process of its own serves it: a scrape must not wait for the rules that are evaluated meanwhile. Prometheus would
not have its samples yet, and who asks as of the same moment later would.
"""

import asyncio
import sys
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from functools import lru_cache
from pathlib import Path

import aiohttp
from aiohttp import web

from benchmarks.local_server import serve_until_cancelled
from benchmarks.quality.promtool_series import samples, values
from collectors.facts.clock import SystemClock
from demo.parts.processes import Program, answers, free_port, running
from tests.bot.evaluation.beside_prometheus.rule_set import series

_STEP = timedelta(
    seconds=17
)  # beside evaluations every 15 s and scrapes every 4 s: they meet at other moments each time


class PlayedPage:
    """Series by their text, as Prometheus scrapes them: none before `play`; each begins again after its last value."""

    def __init__(self, series: Iterable[Mapping[str, str]]) -> None:
        self._values: dict[str, tuple[float | None, ...]] = {}
        self._started: datetime | None = None
        for case in series:
            for text, notation in case.items():
                sample = next(samples(text, "0", start=SystemClock().now(), every=_STEP))
                self._values.setdefault(sample.series, tuple(values(notation)))

    def __len__(self) -> int:
        return len(self._values)

    def play(self) -> None:
        self._started = SystemClock().now()

    def text(self) -> str:
        if self._started is None:
            return ""
        return self._text((SystemClock().now() - self._started) // _STEP)

    @lru_cache(maxsize=1)  # noqa: B019 - there is one page in its process
    def _text(self, step: int) -> str:
        lines = [
            f"{series} {value!r}"
            for series, played in sorted(self._values.items())
            if (value := played[step % len(played)]) is not None
        ]
        return "\n".join([*lines, ""])


@asynccontextmanager
async def served_page(folder: Path) -> AsyncIterator[str]:
    """Serve the page on loopback; the value is host and port."""
    port = free_port()
    program = Program(
        name="the played page",
        argv=(sys.executable, "-m", __name__, str(port)),
        log=folder / "played_page.log",
    )
    address = f"127.0.0.1:{port}"
    async with running(program, lambda: answers(f"http://{address}/readyz"), limit=timedelta(minutes=1)):
        yield address


async def play(address: str) -> None:
    """Begin: until now the page is empty."""
    async with (
        aiohttp.ClientSession(raise_for_status=True) as session,
        session.post(f"http://{address}/play"),
    ):
        pass


def _app(page: PlayedPage) -> web.Application:
    async def metrics(_: web.Request) -> web.Response:
        return web.Response(text=page.text())

    async def begin(_: web.Request) -> web.Response:
        page.play()
        return web.Response()

    app = web.Application()
    app.router.add_get("/metrics", metrics)
    app.router.add_post("/play", begin)
    return app


if __name__ == "__main__":
    asyncio.run(serve_until_cancelled(_app(PlayedPage(series())), int(sys.argv[1])))
