"""A page of metrics that changes: the series of promtool's cases, one value after the other, over and over."""

from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from datetime import datetime, timedelta

from aiohttp import web

from benchmarks.quality.promtool_series import samples, values
from collectors.facts.clock import SystemClock

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
                self._values.setdefault(sample.series, tuple(values(notation.replace("stale", "_"))))

    def __len__(self) -> int:
        return len(self._values)

    def play(self) -> None:
        self._started = SystemClock().now()

    def text(self) -> str:
        if self._started is None:
            return ""
        step = (SystemClock().now() - self._started) // _STEP
        lines = [
            f"{series} {value!r}"
            for series, played in sorted(self._values.items())
            if (value := played[step % len(played)]) is not None
        ]
        return "\n".join([*lines, ""])

    @asynccontextmanager
    async def served(self) -> AsyncIterator[str]:
        """Serve it on loopback; the value is host and port."""

        async def page(_: web.Request) -> web.Response:
            return web.Response(text=self.text())

        app = web.Application()
        app.router.add_get("/metrics", page)
        runner = web.AppRunner(app, access_log=None)
        await runner.setup()
        try:
            site = web.TCPSite(runner, "127.0.0.1", 0)
            await site.start()
            host, port = runner.addresses[0][:2]
            yield f"{host}:{port}"
        finally:
            await runner.cleanup()
