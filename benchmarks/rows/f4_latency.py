"""F4: from the POST of an alert to the message about it, at light load and while a storm comes in.

Both programs notify the same plain webhook, as there is no limit in it that would hide their own time. Each alert is a
group, or an incident, of its own; Alertmanager waits for no others (`group_wait: 0s`).
"""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory

from aiohttp import web

from benchmarks import alert_programs as programs
from benchmarks.alert_programs import AlertProgram
from benchmarks.alert_storm import post_within, scattered, sending_to, storm
from benchmarks.row import Benchmark, CannotRunError, Goal, Outcome, Peer, Row
from tests.support.alert_sender import AlertSender
from tests.support.serving import serving

ALERTS = 200
EVERY = 0.2  # seconds
STORM_EVERY = 5.0  # seconds: 1,984 alerts each time, new ones at first and then their repeats
WARM_UPS = 20
TAIL = 60.0  # seconds for the last messages
NAME = "ReplicasMissing"

ToWebhook = Callable[[Path, str], AlertProgram]


@dataclass(slots=True)
class Sink:
    """A plain webhook: when each subject was named first, in seconds of the loop."""

    url: str = ""
    first: dict[str, float] = field(default_factory=dict)

    async def receive(self, request: web.Request) -> web.Response:
        now = time.perf_counter()
        for alert in (await request.json())["alerts"]:
            if deployment := alert["labels"].get("deployment"):
                self.first.setdefault(deployment, now)
        return web.Response()

    @classmethod
    @asynccontextmanager
    async def running(cls) -> "AsyncIterator[Sink]":
        sink = cls()
        async with serving("/", sink.receive, largest=64 << 20) as sink.url:
            yield sink


async def run(_: Mapping[str, Outcome]) -> Outcome:
    ours, ours_in_storm = await _measured(programs.yardmaster_to_webhook)
    peers, peers_in_storm = await _measured(_peer)
    peer = Peer(name=f"{programs.PEER}, light", value=_p99(peers))
    size = f"{ALERTS} alerts, one each {EVERY * 1e3:.0f} ms"
    return Outcome(
        rows=(
            _row(f"from POST to webhook, {size}: p99", _p99(ours), peer, limit=20),
            _row("… the median", _median(ours), Peer(name=f"{programs.PEER}, light", value=_median(peers))),
            _row(
                f"… while a storm of 1,984 others comes in each {STORM_EVERY:.0f} s: p99",
                _p99(ours_in_storm),
                peer,
                limit=400,
            ),
            _row(
                "… the same, and the peer in the storm",
                _p99(ours_in_storm),
                Peer(name=f"{programs.PEER}, in the storm", value=_p99(peers_in_storm)),
            ),
        )
    )


def _peer(folder: Path, url: str) -> AlertProgram:
    waits = {"group_wait": "0s", "group_interval": "10s", "repeat_interval": "4h"}
    return programs.alertmanager_to_webhook(
        folder, url, group_by=["alertname", "deployment", "node"], **waits
    )


def _row(measure: str, value: float, peer: Peer, *, limit: float | None = None) -> Row:
    goal = None if limit is None else Goal(limit=limit)
    return Row(id="F4", measure=measure, value=value, unit="ms", peer=peer, goal=goal)


async def _measured(to_webhook: ToWebhook) -> tuple[list[float], list[float]]:
    """Return the milliseconds of each alert, at light load and in storms."""
    with TemporaryDirectory(prefix="bench-") as name:
        async with Sink.running() as sink:
            program = to_webhook(Path(name), sink.url)
            await program.start()
            try:
                async with sending_to(program) as sender:
                    numbers = count()
                    await _posted(sender, sink, WARM_UPS, numbers)
                    light = await _posted(sender, sink, ALERTS, numbers)
                    async with asyncio.TaskGroup() as tasks:
                        storms = tasks.create_task(_storms(program))
                        in_storm = await _posted(sender, sink, ALERTS, numbers)
                        storms.cancel()
                    return light, in_storm
            finally:
                await program.kill()


async def _posted(sender: AlertSender, sink: Sink, alerts: int, numbers: "count[int]") -> list[float]:
    """Post so many, one after the other, and return how long each took until it was named."""
    sent: dict[str, float] = {}

    async def one(number: int) -> None:
        (alert,) = scattered(1, name=NAME, first=number)
        sent[alert["labels"]["deployment"]] = time.perf_counter()
        await sender.post_until_taken([alert])

    async with asyncio.TaskGroup() as group:
        for _ in range(alerts):
            group.create_task(one(next(numbers)))
            await asyncio.sleep(EVERY)
    end = time.perf_counter() + TAIL
    while not sent.keys() <= sink.first.keys():
        if time.perf_counter() > end:
            missing = len(sent.keys() - sink.first.keys())
            raise CannotRunError(f"{missing} of {alerts} alerts were not notified within {TAIL:.0f} s")
        await asyncio.sleep(0.05)
    return sorted((sink.first[name] - at) * 1e3 for name, at in sent.items())


async def _storms(program: AlertProgram) -> None:
    async with sending_to(program) as sender:
        while True:
            began = time.perf_counter()
            await post_within(sender, storm())
            await asyncio.sleep(max(0.0, began + STORM_EVERY - time.perf_counter()))


def _p99(figures: list[float]) -> float:
    return figures[int(len(figures) * 0.99) - 1]


def _median(figures: list[float]) -> float:
    return figures[len(figures) // 2]


BENCHMARK = Benchmark(id="F4", title="from an alert to its message", run=run, limit=timedelta(minutes=8))
