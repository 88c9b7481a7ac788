"""One measured process of F16: `python -m benchmarks.scale WHAT URL KUBECONFIG` prints its figures as JSON.

WHAT is `starts`: start the cluster cache a few times; or `cycles`: start it, then run cycles of all shipped rules while
pods change. Each is a process of its own, so that neither warms the other up.
"""

import asyncio
import sys
from dataclasses import replace
from datetime import timedelta

import aiohttp
import msgspec

from alerts.rendering import RuleRenderer
from benchmarks.large_cluster import PRESENCE
from benchmarks.row import CannotRunError
from benchmarks.rows.f13_cycle import decode
from benchmarks.stalls import longest_decode, longest_stall
from benchmarks.timing import Watch, take_turns
from bot.evaluation.rulebook import read_rulebook
from bot.evaluation.scheduler import RuleScheduler
from bot.jobs.garbage_collection import collect_in_small_parts
from bot.live_cluster import LiveCluster
from bot.settings.schema import RulesSettings
from collectors.check_catalogue import CHECKS
from collectors.check_runner import CheckRunner
from collectors.cluster.cache import ClusterCache
from collectors.facts.clock import SystemClock
from collectors.facts.queries import LogQuery
from collectors.facts.redaction import Redactor
from collectors.query_router import QueryRouter
from collectors.sources.cluster_sources import ClusterSources
from collectors.sources.kubernetes.client import KubernetesClient, KubernetesOptions
from collectors.sources.kubernetes.source import KubernetesSource
from collectors.sources.prometheus.options import PrometheusOptions
from collectors.sources.prometheus.source import PrometheusSource
from tests.support.routing import QuietSource

CYCLES, STARTS = 7, 3
SYNCED = timedelta(seconds=120)
PAUSE = 1.2  # seconds before a cycle: the derived snapshot is old enough to be replaced


class Measured(msgspec.Struct, kw_only=True):
    """Seconds. `stall` and `decode` are the longest of the loop, and of one answer for all GPUs.

    `cycle`: every rule also queries presence, as at the start. `calm`: no alert is missing, so none does.
    """

    cycle: float = 0
    calm: float = 0
    stall: float = 0
    decode: float = 0
    rules: int = 0
    blind: dict[str, str] = {}


class _QuietLogs(QuietSource):
    """Logs in which nothing is found: searches do not depend on the size of the cluster."""

    name = "elasticsearch"
    query_types = frozenset({LogQuery})


async def starts(kubeconfig: str) -> Measured:
    """Start a cluster cache, until trainings and topology are known."""
    client = await KubernetesClient.connect(KubernetesOptions(kubeconfig=kubeconfig))

    async def start() -> None:
        cache = ClusterCache(KubernetesSource(client), clock=SystemClock())
        cluster = LiveCluster("prod-a", clock=SystemClock(), cache=cache)
        async with asyncio.TaskGroup() as group:
            task = group.create_task(cache.run())
            await cluster.synced(SYNCED)
            cluster.topology()
            task.cancel()

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

    async with asyncio.TaskGroup() as group:
        task = group.create_task(cache.run())
        await cluster.synced(SYNCED)
        for _ in range(3):
            await cycle()
        blind.clear()
        times = await take_turns({"cycle": cycle}, rounds=CYCLES, warm_ups=0)
        stall = await longest_stall(cycle, rounds=CYCLES)
        calm_times = await take_turns({"calm": calm}, rounds=CYCLES)
        task.cancel()
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
        cycle=times["cycle"].median,
        calm=calm_times["calm"].median,
        stall=stall.total_seconds(),
        decode=longest_decode(decode, [body]).total_seconds(),
        rules=len(rules),
        blind=blind,
    )


if __name__ == "__main__":
    collect_in_small_parts()
    what, address, config = sys.argv[1:]
    found = asyncio.run(starts(config) if what == "starts" else cycles(address, config))
    print(msgspec.json.encode(found).decode())
