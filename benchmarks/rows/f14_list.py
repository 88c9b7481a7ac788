"""F14: the time until the cache has 5,000 pods, over decoding the same bytes.

Without the network, both sides have the pages in memory: ours includes the source's paging, the reflector and a
subscriber that receives every change; the peer decodes the pages into the same structs. With the network, both fetch
the same pages from a server in another process.
"""

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import aiohttp
import msgspec
from kubernetes import client as models

from benchmarks.pod_server import PATH
from benchmarks.pods import Pages, pages
from benchmarks.row import Benchmark, Goal, Outcome, Peer, Row, Stall
from benchmarks.stalls import longest_decode, longest_stall
from benchmarks.timing import Timing, Watch, take_turns
from collectors.cluster.cache import ClusterCache
from collectors.cluster.kinds import PODS
from collectors.cluster.objects import Pod
from collectors.facts.clock import SystemClock
from collectors.facts.results import Blind
from collectors.sources.kubernetes.client import KubernetesClient, KubernetesOptions
from collectors.sources.kubernetes.source import KubernetesSource
from demo.parts.processes import Program, answers, free_port, running

COUNT = 5_000
BY_MODELS = 100  # pods read with the client's models, which are too slow for all
ROUNDS = 9
WITHIN = timedelta(seconds=60)


class _List(msgspec.Struct):
    items: list[Pod]


decode = msgspec.json.Decoder(_List).decode


class _Canned(KubernetesClient):
    """A client whose lists are in memory. Its watches never open."""

    def __init__(self, list_of: Pages) -> None:
        self._bodies = list_of.bodies
        self.where = "memory"
        self.watches: Any = None

    async def call(self, method: str, path: str, **request: Any) -> bytes:
        return self._bodies[request["params"].get("continue", "")]

    async def open(self, *_: Any, **__: Any) -> Any:
        await asyncio.Event().wait()


async def run(_: Mapping[str, Outcome]) -> Outcome:
    list_of = await asyncio.to_thread(pages, COUNT)
    bodies = tuple(list_of.bodies.values())
    canned = KubernetesSource(_Canned(list_of))

    async def decoded() -> float:
        with Watch() as watch:
            pods = [pod for body in bodies for pod in decode(body).items]
        assert len(pods) == COUNT
        return watch.cpu

    async with _served() as (source, url), aiohttp.ClientSession() as session:

        async def fetched() -> float:
            with Watch() as watch:
                pods = []
                for token in list_of.bodies:
                    params = {"limit": "500", **({"continue": token} if token else {})}
                    async with session.get(url + PATH, params=params) as response:
                        pods += decode(await response.read()).items
            assert len(pods) == COUNT
            return watch.wall

        async def cached_over_http() -> float:
            return (await _cached(source)).wall

        async def cached() -> float:
            return (await _cached(canned)).cpu

        near = await take_turns({"ours": cached, "bare": decoded}, rounds=ROUNDS, within=WITHIN / 2)
        far = await take_turns({"ours": cached_over_http, "bare": fetched}, rounds=ROUNDS, within=WITHIN / 2)
        stall = await longest_stall(cached_over_http, rounds=5)
    few = pages(BY_MODELS)
    modelled = await take_turns(
        {"models": lambda: _by_models(few), "bare": lambda: _by_structs(few)}, rounds=3
    )
    megabytes = list_of.size / 1e6
    same_bytes = "msgspec decode of the same bytes"
    rows = (
        _timed(
            f"{COUNT:,} pods ({megabytes:.0f} MB) into the cache, in memory, CPU",
            near["ours"],
            Peer(name=same_bytes, value=near["bare"].milliseconds),
            goal=Goal(limit=2.0),
        ),
        _timed(
            "the same over HTTP, wall",
            far["ours"],
            Peer(name="aiohttp GETs and the same decode", value=far["bare"].milliseconds),
            goal=Goal(limit=2.0),
        ),
        _timed(
            "the same over HTTP, wall, over decoding alone",
            far["ours"],
            Peer(name="msgspec decode, no HTTP", value=near["bare"].milliseconds),
        ),
        _timed(
            f"kubernetes client models reading {BY_MODELS} of them, CPU",
            modelled["models"],
            Peer(name=same_bytes, value=modelled["bare"].milliseconds),
        ),
    )
    return Outcome(
        rows=rows,
        stalls=(Stall(during="F14", longest=stall, longest_decode=longest_decode(decode, bodies)),),
    )


def _timed(measure: str, ours: Timing, peer: Peer, *, goal: Goal | None = None) -> Row:
    return Row(id="F14", measure=measure, value=ours.milliseconds, unit="ms", peer=peer, goal=goal)


async def _cached(source: KubernetesSource) -> Watch:
    """Time a new cache from its start until it has the whole list."""
    changes = 0

    def count(_: object) -> None:
        nonlocal changes
        changes += 1

    cache = ClusterCache(source, clock=SystemClock(), kinds=(PODS,))
    cache.subscribe(count)
    async with asyncio.TaskGroup() as group:
        with Watch() as watch:
            task = group.create_task(cache.run())
            await cache.synced(timedelta(seconds=30))
        task.cancel()
    snapshot = cache.snapshot(PODS)
    assert not isinstance(snapshot, Blind)
    assert len(snapshot.objects) == changes == COUNT
    return watch


async def _by_structs(list_of: Pages) -> float:
    with Watch() as watch:
        for body in list_of.bodies.values():
            decode(body)
    return watch.cpu


async def _by_models(list_of: Pages) -> float:
    reader = models.ApiClient()
    with Watch() as watch:
        for body in list_of.bodies.values():
            reader.deserialize(body.decode(), "V1PodList", "application/json")
    return watch.cpu


@asynccontextmanager
async def _served() -> AsyncIterator[tuple[KubernetesSource, str]]:
    """Serve the pages from another process, and yield our source for it and its address."""
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    with TemporaryDirectory(prefix="bench-") as name:
        folder = Path(name)
        program = Program(
            name="the pod server",
            argv=(sys.executable, "-m", "benchmarks.pod_server", str(port), str(COUNT)),
            log=folder / "server.log",
            folder=Path(__file__).parents[2],
        )
        async with running(program, lambda: answers(f"{url}/readyz"), grace=timedelta(seconds=2)):
            config = folder / "kubeconfig"
            config.write_text(kubeconfig(url), encoding="utf-8")
            client = await KubernetesClient.connect(KubernetesOptions(kubeconfig=str(config)))
            try:
                yield KubernetesSource(client), url
            finally:
                await client.close()


def kubeconfig(url: str) -> str:
    here = {"name": "here"}
    return json.dumps(
        {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{**here, "cluster": {"server": url}}],
            "users": [{**here, "user": {"token": "t"}}],
            "contexts": [{**here, "context": {"cluster": "here", "user": "here"}}],
            "current-context": "here",
        }
    )


BENCHMARK = Benchmark(id="F14", title="5,000 pods into the cache", run=run, limit=timedelta(seconds=150))
