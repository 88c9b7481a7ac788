"""F16: 5,000 nodes of 8 GPUs and 50,000 pods of which one changes every 10 ms, while all shipped rules are evaluated.

The servers and each measured process are processes of their own.
"""

import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec

from benchmarks.finished_process import finished
from benchmarks.large_cluster_objects import GPUS, PODS_ON_NODE
from benchmarks.row import Benchmark, CannotRunError, Goal, Outcome, Peer, Row
from benchmarks.rows.f14_list import kubeconfig
from benchmarks.scale import Measured
from benchmarks.whole_process import peak_memory
from demo.parts.processes import Program, answers, free_port, running

NODES, FEWER = 5_000, 1_000
CHARTS_LIMIT = 1 << 30  # bytes: resources.limits of the chart's values
ROOT = Path(__file__).parents[2]


async def run(_: Mapping[str, Outcome]) -> Outcome:
    async with _served(FEWER) as few:
        small = await _measured("cycles", *few)
    async with _served(NODES) as many:
        alone = await _measured("objects", *many)
        start = await _measured("starts", *many)
        large = await _measured("cycles", *many)
        with TemporaryDirectory(prefix="bench-") as folder:
            whole = await peak_memory(*many, Path(folder))
    judged = large.rules - len(large.blind)
    decode = Peer(name=f"decode of one answer of {NODES * GPUS:,} series", value=large.decode * 1e3)
    rows = (
        _timed(
            f"{NODES:,} nodes, {NODES * PODS_ON_NODE:,} pods: longest stall in a cycle",
            large.stall,
            decode,
            goal=Goal(limit=3.0),
        ),
        _timed("… from the start to the first topology", start.stall, decode, goal=Goal(limit=3.0)),
        Row(
            id="F16",
            measure="… memory that the cluster takes in the process",
            value=large.memory / 1e6,
            unit="MB",
            peer=Peer(name="the decoded objects alone", value=alone.memory / 1e6),
            goal=Goal(limit=2.0),
        ),
        Row(
            id="F16",
            measure="… memory of the whole process, at most; the goal is the chart's limit",
            value=whole / 1e6,
            unit="MB",
            goal=Goal(limit=CHARTS_LIMIT / 1e6, of_value=True),
        ),
        _timed(
            "… a cycle of all rules",
            large.cycle,
            Peer(name=f"the same with {FEWER:,} nodes", value=small.cycle * 1e3),
            goal=Goal(limit=6.0),
        ),
        _timed(
            "… such a cycle in which no alert is missing: no presence queries",
            large.calm,
            Peer(name="the cycle with all of them", value=large.cycle * 1e3),
        ),
        Row(
            id="F16",
            measure=f"… of {large.rules} rules, judged",
            value=judged,
            goal=Goal(limit=large.rules, of_value=True, at_least=True),
            missing="; ".join(f"{id}: {reason}" for id, reason in large.blind.items()),
        ),
    )
    return Outcome(rows=rows)


def _timed(measure: str, seconds: float, peer: Peer, *, goal: Goal | None = None) -> Row:
    return Row(id="F16", measure=measure, value=seconds * 1e3, unit="ms", peer=peer, goal=goal)


@asynccontextmanager
async def _served(nodes: int) -> AsyncIterator[tuple[str, Path]]:
    """Serve a cluster of this size, and yield its address and a kubeconfig."""
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    with TemporaryDirectory(prefix="bench-") as name:
        folder = Path(name)
        config = folder / "kubeconfig"
        config.write_text(kubeconfig(url), encoding="utf-8")
        program = Program(
            name="the large cluster",
            argv=(sys.executable, "-m", "benchmarks.large_cluster", str(port), str(nodes)),
            log=folder / "server.log",
            folder=ROOT,
        )
        limit = timedelta(seconds=120)
        async with running(
            program, lambda: answers(f"{url}/readyz"), limit=limit, grace=timedelta(seconds=2)
        ):
            yield url, config


async def _measured(what: str, url: str, config: Path) -> Measured:
    """Run one measured process to its end, and return its figures."""
    done = await finished(sys.executable, "-m", "benchmarks.scale", what, url, str(config), folder=ROOT)
    if done.code:
        raise CannotRunError(f"`benchmarks.scale {what}` failed: {done.errors.rpartition(chr(10))[2]}")
    return msgspec.json.decode(
        done.output.rstrip().rpartition(b"\n")[2], type=Measured
    )  # after what it logged


BENCHMARK = Benchmark(id="F16", title="5,000 nodes and 50,000 pods", run=run, limit=timedelta(seconds=1200))
