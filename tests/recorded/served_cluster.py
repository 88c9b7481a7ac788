"""A recorded cluster whose targets are served as it is now: a real Prometheus scrapes them as a chart says."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta

from aiohttp import web

from collectors.facts.clock import SystemClock
from tests.support.recorded_cluster import RecordedCluster, RecordedSeries

_TARGET = ("job", "instance")


class ServedCluster:
    """The targets of a cluster, each with a page of its own. One whose `up` is 0 does not answer."""

    def __init__(self, cluster: RecordedCluster) -> None:
        self._targets: dict[tuple[str, ...], list[RecordedSeries]] = {}
        for series in cluster.series():
            key = tuple(series[1][name] for name in _TARGET)
            self._targets.setdefault(key, []).append(series)

    def __len__(self) -> int:
        return len(self._targets)

    @asynccontextmanager
    async def served(self) -> AsyncIterator[str]:
        """Serve them on loopback; the value is host and port."""
        pages = list(self._targets.values())

        async def answer(request: web.Request) -> web.Response:
            return _page(pages[int(request.match_info["number"])])

        app = web.Application()
        app.router.add_get("/{number}", answer)
        runner = web.AppRunner(app, access_log=None)
        await runner.setup()
        try:
            site = web.TCPSite(runner, "127.0.0.1", 0)
            await site.start()
            host, port = runner.addresses[0][:2]
            yield f"{host}:{port}"
        finally:
            await runner.cleanup()

    def config(self, address: str, *, every: timedelta) -> str:
        """Return a configuration of Prometheus that scrapes the targets at this address."""
        targets = [
            {
                "targets": [address],
                "labels": {"__metrics_path__": f"/{number}", **dict(zip(_TARGET, key, strict=True))},
            }
            for number, key in enumerate(self._targets)
        ]
        job = {"job_name": "served", "honor_labels": True, "static_configs": targets}
        return json.dumps({"global": {"scrape_interval": f"{every.seconds}s"}, "scrape_configs": [job]})


def _page(series: list[RecordedSeries]) -> web.Response:
    """Return the page now; its labels are those that the series have once they are scraped."""
    now = SystemClock().now()
    lines: list[str] = []
    for metric, labels, value in series:
        number = value(now)
        if metric == "up" and number == 0:
            return web.Response(status=503)
        if metric != "up" and number is not None:
            own = (f'{name}="{text}"' for name, text in sorted(labels.items()) if name not in _TARGET)
            lines.append(f"{metric}{{{','.join(own)}}} {number!r}\n")
    return web.Response(text="".join(lines))
