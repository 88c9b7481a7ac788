"""F5: how many alerts a second are taken, and the memory of 50,000 that stand.

Ours are committed before the answer 200; Alertmanager keeps them in memory. Both get the same bodies from the same
sender and notify nobody meanwhile: what is measured is the intake.
"""

import asyncio
import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

import aiohttp

from benchmarks import alert_programs as programs
from benchmarks.alert_programs import AlertProgram
from benchmarks.alert_storm import BATCH, SENDERS, batches
from benchmarks.row import Benchmark, Goal, Outcome, Peer, Row
from tests.support.alert_sender import PATH, firing

TIMED = 20_000
STANDING = 50_000
NAMES = 10  # rules: each alert has another node
SETTLED = 15.0  # seconds after the last alert, until memory is read
AGAIN = 0.05  # seconds until a batch that was not taken is sent again


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    rate: float  # alerts a second
    again: float  # of repeats
    shown: float  # alerts a second, until the last of them is shown
    memory: int  # bytes, with all of them
    idle: int  # bytes, before the first


async def run(_: Mapping[str, Outcome]) -> Outcome:
    ours = await _measured(lambda folder: programs.yardmaster(folder))
    peers = await _measured(_peer)
    return Outcome(
        rows=(
            _rate(
                f"{TIMED:,} new alerts in batches of {BATCH}, {SENDERS} at once, committed before the answer",
                ours.rate,
                peers.rate,
                goal=Goal(limit=0.6, at_least=True),
            ),
            _rate("… until GET /api/v2/alerts shows the last of them", ours.shown, peers.shown),
            _rate("… the same alerts again", ours.again, peers.again),
            _memory(
                f"memory with {STANDING:,} alerts that stand", ours.memory, peers.memory, goal=Goal(limit=0.6)
            ),
            _memory("… of that before the first", ours.idle, peers.idle),
        )
    )


def _rate(measure: str, ours: float, theirs: float, *, goal: Goal | None = None) -> Row:
    peer = Peer(name=f"{programs.PEER}, in memory", value=theirs)
    return Row(id="F5", measure=measure, value=ours, unit="1/s", peer=peer, goal=goal)


def _memory(measure: str, ours: int, theirs: int, *, goal: Goal | None = None) -> Row:
    peer = Peer(name=programs.PEER, value=theirs / 1e6)
    return Row(id="F5", measure=measure, value=ours / 1e6, unit="MB", peer=peer, goal=goal)


def _peer(folder: Path) -> AlertProgram:
    return programs.alertmanager(folder, {}, group_by=["alertname"])


def _bodies(first: int, count: int) -> list[bytes]:
    """Return the bodies of alerts on as many nodes as there are alerts of one rule."""
    alerts = [
        firing(
            {
                "alertname": f"Rule{number % NAMES}",
                "severity": "warning",
                "node": f"gpu-{number // NAMES:05}",
                "job": "node-exporter",
                "namespace": "monitoring",
            },
            summary=f"Something is wrong with gpu-{number // NAMES:05}.",
            description="What it is, and what to do about it, takes a sentence or two to say.",
        )
        for number in range(first, first + count)
    ]
    return [json.dumps(one).encode() for one in batches(alerts)]


async def _measured(make: Callable[[Path], AlertProgram]) -> Taken:
    timed, rest = _bodies(0, TIMED), _bodies(TIMED, STANDING - TIMED)
    with TemporaryDirectory(prefix="bench-") as name:
        program = make(Path(name))
        await program.start()
        try:
            idle = program.memory
            seconds = await _sent(program, timed)
            shown = TIMED / (seconds + await _shown(program, TIMED))
            again = TIMED / await _sent(program, timed)
            await _sent(program, rest)
            await _shown(program, STANDING)
            await asyncio.sleep(SETTLED)
            return Taken(rate=TIMED / seconds, again=again, shown=shown, memory=program.memory, idle=idle)
        finally:
            await program.kill()


async def _sent(program: AlertProgram, bodies: list[bytes]) -> float:
    """Post them, a few at once, until all are taken; return the seconds that it took."""
    waiting = iter(bodies)
    headers = {**program.headers, "Content-Type": "application/json"}
    async with aiohttp.ClientSession(program.url, timeout=aiohttp.ClientTimeout(total=120)) as session:

        async def send() -> None:
            for body in waiting:
                while True:
                    async with session.post(PATH, data=body, headers=headers) as answer:
                        if answer.status == 200:
                            break
                    await asyncio.sleep(AGAIN)

        began = time.perf_counter()
        await asyncio.gather(*(send() for _ in range(SENDERS)))
        return time.perf_counter() - began


async def _shown(program: AlertProgram, alerts: int) -> float:
    """Wait until the last of so many alerts are shown; return the seconds that it took."""
    last = {"filter": f'node="gpu-{(alerts - 1) // NAMES:05}"'}
    began = time.perf_counter()
    timeout = aiohttp.ClientTimeout(total=120)
    async with aiohttp.ClientSession(program.url, timeout=timeout, headers=program.headers) as session:
        while True:
            async with session.get(PATH, params=last) as answer:
                if answer.status == 200 and len(await answer.json()) == NAMES:
                    return time.perf_counter() - began
            await asyncio.sleep(AGAIN)


BENCHMARK = Benchmark(id="F5", title="the intake of alerts", run=run, limit=timedelta(minutes=8))
