"""Watches of a changing cluster that break: the ways to break one, and what the cluster cache misses after it."""

import asyncio
import operator
import random
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from bot.settings.source_options import reflector_timing
from collectors.cluster.cache import ClusterCache
from collectors.cluster.kinds import NODES, PODS
from collectors.facts.clock import SystemClock
from collectors.facts.results import Blind
from collectors.sources.kubernetes.client import KubernetesClient, KubernetesOptions
from collectors.sources.kubernetes.source import KubernetesSource
from demo.lookalikes.kubernetes import KubernetesLookalike
from demo.lookalikes.kubernetes.faults import RecordedRequest
from demo.lookalikes.kubernetes.store import Change
from tests.support.cluster_cache import Replica

SETTING = timedelta(seconds=6)  # after which the cluster counts as blind
EVERY = 0.04  # seconds between two changes
OBJECTS, DOOMED, PAGE = 200, 40, 20
LATENCY = timedelta(milliseconds=20)  # of each answer: a list takes a while
Break = Callable[[KubernetesLookalike], Awaitable[None]]


@dataclass(slots=True)
class Counted:
    """How many changes pods had, and how many the cache missed. `blind`: the longest time until it caught up."""

    changes: int = 0
    missed: int = 0
    blind: float = 0.0


@dataclass(frozen=True, slots=True)
class Followed:
    """A look-alike whose pods change all the time, a cache of it, and what the cache's changes give."""

    kube: KubernetesLookalike
    cache: ClusterCache
    replica: Replica
    changing: "asyncio.Task[None]"


@asynccontextmanager
async def followed(stale_after: timedelta, seed: int) -> AsyncIterator[Followed]:
    """Run them until the block ends."""
    async with KubernetesLookalike.running(controllers=False) as kube:
        for number in range(OBJECTS):
            kube.create(_pod(f"p{number}"))
        for number in range(DOOMED):
            kube.create(_pod(f"doomed-{number}"))
        kube.create({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1"}})
        kube.latency = LATENCY
        with TemporaryDirectory(prefix="bench-") as folder:
            config = kube.kubeconfig(Path(folder) / "kubeconfig")
            limit = min(KubernetesOptions().timeout, stale_after / 4)
            client = await KubernetesClient.connect(KubernetesOptions(kubeconfig=str(config), timeout=limit))
        cache, replica = _cache(KubernetesSource(client), stale_after), Replica(PODS.name)
        cache.subscribe(replica)
        try:
            async with asyncio.TaskGroup() as group:
                running = group.create_task(cache.run())
                await cache.synced(timedelta(seconds=30))
                changing = group.create_task(_change(kube, random.Random(seed)))
                yield Followed(kube, cache, replica, changing)
                running.cancel()
                changing.cancel()
        finally:
            await client.close()


async def count(
    breaks: Sequence[Break],
    *,
    seed: int,
    stale_after: timedelta = SETTING,
    within: timedelta = timedelta(seconds=80),
) -> Counted:
    """Break the watch in each of these ways, one after the other, and count what the cache does not have in the end.

    `within` is the time it has to catch up after each.
    """
    loop, chance, counted = asyncio.get_running_loop(), random.Random(seed), Counted()

    def write(change: Change) -> None:
        counted.changes += change.kind.plural == PODS.name

    async with followed(stale_after, seed) as one:
        replica = one.replica
        known = replica.count
        one.kube.store.listen(write)
        for number, break_ in enumerate(breaks):
            await asyncio.sleep(chance.uniform(0.1, 1.2))
            before = loop.time()
            await break_(one.kube)
            one.kube.create(_pod(mark := f"mark-{number}"))
            await _until(partial(operator.contains, replica.versions, f"default/{mark}"), within)
            counted.blind = max(counted.blind, loop.time() - before)
        one.changing.cancel()
        await asyncio.wait([one.changing])
        await _until(lambda: replica.versions == _versions(one.kube), within)
        snapshot, written = one.cache.snapshot(PODS), _versions(one.kube)
        seen = {} if isinstance(snapshot, Blind) else snapshot.objects
        cached = {key: pod.metadata.resource_version for key, pod in seen.items()}
        counted.missed = len(replica.missed) + _different(cached, written)
        counted.missed += _different(replica.versions, written)
        if one.cache.status()[-1].lists == 1:  # the watch alone was enough: each single change must have come
            counted.missed += abs(counted.changes - (replica.count - known))
    return counted


# The ways to break a watch, each at a few moments.


async def expired(kube: KubernetesLookalike) -> None:
    """The next watch opens, and its first event is an ERROR."""
    kube.drop_watches()
    await _write_and_forget(kube)


async def expired_after_a_bookmark(kube: KubernetesLookalike) -> None:
    kube.send_bookmarks()
    await asyncio.sleep(3 * EVERY)
    await expired(kube)


async def refused_as_expired(kube: KubernetesLookalike) -> None:
    kube.fail(_is_watch, 410)
    kube.drop_watches()


async def expired_while_paging(kube: KubernetesLookalike) -> None:
    await expired(kube)
    await _next_page(kube)
    await _write_and_forget(kube)  # the list's own version is gone now


async def ended(kube: KubernetesLookalike) -> None:
    kube.drop_watches(abruptly=False)


async def broken_off(kube: KubernetesLookalike) -> None:
    kube.drop_watches()


async def ended_after_a_bookmark(kube: KubernetesLookalike) -> None:
    kube.send_bookmarks()
    await asyncio.sleep(3 * EVERY)
    kube.drop_watches(abruptly=False)


async def hung_up(kube: KubernetesLookalike) -> None:
    """Each watch ends at once for so long that the cache must list."""
    kube.hang_up_watches(True)
    kube.drop_watches(abruptly=False)
    await asyncio.sleep(SETTING.total_seconds() * 1.5)
    kube.hang_up_watches(False)


async def stalled(kube: KubernetesLookalike) -> None:
    kube.stall_watches()


async def stalled_after_a_bookmark(kube: KubernetesLookalike) -> None:
    kube.send_bookmarks()
    await asyncio.sleep(3 * EVERY)
    kube.stall_watches()


async def silent(kube: KubernetesLookalike) -> None:
    """The whole server is silent, for longer than the setting."""
    kube.pause()
    await asyncio.sleep(SETTING.total_seconds() * 1.5)
    kube.resume()


async def silent_while_paging(kube: KubernetesLookalike) -> None:
    await expired(kube)
    await _next_page(kube)
    await silent(kube)


async def _write_and_forget(kube: KubernetesLookalike) -> None:
    """Create and delete a pod, then drop the history before any watch can send it."""
    kube.create(_pod(f"unsent-{kube.store.version}"))
    doomed = next(
        name for tree in kube.list("pods") if (name := tree["metadata"]["name"]).startswith("doomed-")
    )
    kube.delete("pods", "default", doomed, grace=0)
    kube.compact()


async def _next_page(kube: KubernetesLookalike) -> None:
    """Wait until a page after the first of a list is asked for."""
    before = sum("continue" in one.query for one in kube.requests)
    await _until(
        lambda: sum("continue" in one.query for one in kube.requests) > before, timedelta(seconds=30)
    )


def _is_watch(seen: RecordedRequest) -> bool:
    return "watch" in seen.query and seen.path == PODS.path


# The cluster.


async def _change(kube: KubernetesLookalike, chance: random.Random) -> None:
    """Create, change and delete pods until cancelled; a node has a heartbeat."""
    names = [f"p{number}" for number in range(OBJECTS)]
    while True:
        roll, label = chance.random(), {"metadata": {"labels": {"turn": f"{chance.getrandbits(40):x}"}}}
        if roll < 0.2 and len(names) > OBJECTS / 2:
            kube.delete("pods", "default", names.pop(chance.randrange(len(names))), grace=0)
        elif roll < 0.4:
            names.append(f"p{chance.getrandbits(40):x}")
            kube.create(_pod(names[-1]))
        elif roll < 0.9:
            kube.patch("pods", "default", chance.choice(names), label)
        else:
            kube.patch("nodes", "", "n1", label)
        await asyncio.sleep(EVERY)


def _cache(source: KubernetesSource, stale_after: timedelta) -> ClusterCache:
    timing = replace(reflector_timing(stale_after), page=PAGE)
    return ClusterCache(
        source, clock=SystemClock(), kinds=(NODES, PODS), stale_after=stale_after, timing=timing
    )


def _pod(name: str) -> dict[str, Any]:
    spec = {"containers": [{"name": "main", "image": "i"}]}
    meta = {"name": name, "namespace": "default"}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec}


def _versions(kube: KubernetesLookalike) -> dict[str, str]:
    found = (tree["metadata"] for tree in kube.list("pods"))
    return {f"{meta['namespace']}/{meta['name']}": meta["resourceVersion"] for meta in found}


def _different(one: Mapping[str, str], other: Mapping[str, str]) -> int:
    return sum(one.get(key) != other.get(key) for key in one.keys() | other.keys())


async def _until(holds: Callable[[], bool], within: timedelta) -> None:
    """Wait until it holds, or for so long."""
    with suppress(TimeoutError):
        async with asyncio.timeout(within.total_seconds()):
            while not holds():  # noqa: ASYNC110 - a state has no event of its own
                await asyncio.sleep(0.01)
