"""One measured process of F16: `python -m benchmarks.scale WHAT URL KUBECONFIG` prints its figures as JSON.

WHAT is `objects`: decode every list and keep the objects; `starts`: start the cluster cache a few times; or `cycles`:
start it, then run cycles of all shipped rules while pods change. Each is a process of its own, because only then its
memory is its own.
"""

import asyncio
import gc
import sys
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import aiohttp
import msgspec

from alerts.rendering import RuleRenderer
from benchmarks.large_cluster import PRESENCE
from benchmarks.large_cluster_objects import PATHS
from benchmarks.row import CannotRunError
from benchmarks.rows.f13_cycle import decode
from benchmarks.stalls import longest_decode, longest_stall
from benchmarks.timing import Watch, take_turns
from bot.evaluation.rulebook import read_rulebook
from bot.evaluation.scheduler import RuleScheduler
from bot.jobs.garbage_collection import collect_in_small_parts, trim_memory
from bot.live_cluster import LiveCluster
from bot.settings.schema import RulesSettings
from collectors.check_catalogue import CHECKS
from collectors.check_runner import CheckRunner
from collectors.cluster.cache import ClusterCache
from collectors.cluster.decoder import KindDecoder
from collectors.cluster.kinds import DEFAULT_KINDS
from collectors.facts.clock import SystemClock
from collectors.facts.queries import LogQuery
from collectors.facts.redaction import Redactor
from collectors.query_router import QueryRouter
from collectors.sources.cluster_sources import ClusterSources
from collectors.sources.kubernetes.client import KubernetesClient, KubernetesOptions
from collectors.sources.kubernetes.source import KubernetesSource
from collectors.sources.prometheus.options import PrometheusOptions
from collectors.sources.prometheus.source import PrometheusSource
from demo.side_tasks import beside
from tests.support.routing import QuietSource

CYCLES, STARTS = 7, 3
SYNCED = timedelta(seconds=120)
PAUSE = 1.2  # seconds before a cycle: the derived snapshot is old enough to be replaced


class Measured(msgspec.Struct, kw_only=True):
    """Seconds and bytes. `stall` and `decode` are the longest of the loop, and of one answer for all GPUs.

    `cycle`: every rule also queries presence, as at the start. `calm`: no alert is missing, so none does.
    """

    memory: int = 0
    cycle: float = 0
    calm: float = 0
    stall: float = 0
    decode: float = 0
    rules: int = 0
    blind: dict[str, str] = {}


class _List(msgspec.Struct):
    metadata: dict[str, str]


class _QuietLogs(QuietSource):
    """Logs in which nothing is found: searches do not depend on the size of the cluster."""

    name = "elasticsearch"
    query_types = frozenset({LogQuery})


async def objects(url: str) -> Measured:
    """Decode all lists and keep what is decoded."""
    before = _resident()
    kept: list[object] = []
    decoders = {kind.path: KindDecoder(kind) for kind in DEFAULT_KINDS}
    async with aiohttp.ClientSession() as session:
        for path in PATHS:
            token: str | None = ""
            while token is not None:
                async with session.get(url + path, params={"continue": token} if token else {}) as response:
                    body = await response.read()
                kept += decoders[path].page(body).objects
                token = msgspec.json.decode(body, type=_List).metadata.get("continue")
    return Measured(memory=_resident() - before)


async def starts(kubeconfig: str) -> Measured:
    """Start a cluster cache, until trainings and topology are known."""
    client = await KubernetesClient.connect(KubernetesOptions(kubeconfig=kubeconfig))

    async def start() -> None:
        cache = ClusterCache(KubernetesSource(client), clock=SystemClock())
        cluster = LiveCluster("prod-a", clock=SystemClock(), cache=cache)
        async with beside(cache.run()):
            await cluster.synced(SYNCED)
            cluster.topology()

    stall = await longest_stall(start, rounds=STARTS)
    await client.close()
    return Measured(stall=stall.total_seconds())


async def cycles(url: str, kubeconfig: str) -> Measured:
    """Start a cluster cache, then run cycles of all rules."""
    clock = SystemClock()
    always = timedelta(milliseconds=1)  # so that every rule is due in every cycle
    rules = tuple(replace(rule, interval=always) for rule in read_rulebook(RulesSettings()).rules)
    client = await KubernetesClient.connect(KubernetesOptions(kubeconfig=kubeconfig))
    prometheus = PrometheusSource(PrometheusOptions(url=url))
    before = _resident()
    cache = ClusterCache(KubernetesSource(client), clock=clock)
    sources = ClusterSources([prometheus, _QuietLogs()])
    cluster = LiveCluster("prod-a", clock=clock, cache=cache, sources=sources)
    router = QueryRouter(sources, CheckRunner(CHECKS, cluster.check_input))
    renderer = RuleRenderer(cluster.topology, clean=Redactor(()).clean)
    scheduler = RuleScheduler("prod-a", rules, router, renderer)
    blind: dict[str, str] = {}

    async def cycle() -> float:
        scheduler.reset()  # as at the start, every rule queries presence too
        return await calm()

    async def calm() -> float:
        await asyncio.sleep(PAUSE)
        with Watch() as watch:
            done = await scheduler.run_cycle(clock.now())
        blind.update(done.blind)
        return watch.wall

    async with beside(cache.run()):
        await cluster.synced(SYNCED)
        for _ in range(3):
            await cycle()
        blind.clear()
        times = await take_turns({"cycle": cycle}, rounds=CYCLES, warm_ups=0)
        stall = await longest_stall(cycle, rounds=CYCLES)
        memory = _resident() - before
        calm_times = await take_turns({"calm": calm}, rounds=CYCLES)
    async with (
        aiohttp.ClientSession() as session,
        session.post(f"{url}/api/v1/query", data={"query": PRESENCE}) as response,
    ):
        body = await response.read()
    if not decode(body).data.result:
        raise CannotRunError("the presence query has no series")
    await prometheus.close()
    await client.close()
    return Measured(
        memory=memory,
        cycle=times["cycle"].median,
        calm=calm_times["calm"].median,
        stall=stall.total_seconds(),
        decode=longest_decode(decode, [body]).total_seconds(),
        rules=len(rules),
        blind=blind,
    )


def _resident() -> int:
    """Return the resident memory of this process, in bytes, once garbage is collected as the product does."""
    gc.collect()
    trim_memory()
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * 4096


if __name__ == "__main__":
    collect_in_small_parts()
    what, address, config = sys.argv[1:]
    work = {"objects": lambda: objects(address), "starts": lambda: starts(config)}
    found = asyncio.run(work.get(what, lambda: cycles(address, config))())
    print(msgspec.json.encode(found).decode())
