"""Watches that break by 410, by an end and by silence, at each moment, in virtual time: no change is missed.

Silence is announced in time.
"""

import asyncio
import random
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pytest

from bot.settings.source_options import reflector_timing
from collectors.cluster.cache import ClusterCache
from collectors.cluster.kinds import PODS
from collectors.facts.results import Blind
from collectors.sources.kubernetes.source import KubernetesSource
from tests.support import memory_api
from tests.support.alerting import NOON
from tests.support.cluster_cache import Replica
from tests.support.memory_api import MemoryApi

pytestmark = pytest.mark.looptime

STALE_AFTER = timedelta(seconds=90)
EVERY = 0.25  # seconds between two changes


def a_clock() -> Any:
    loop = asyncio.get_running_loop()
    return SimpleNamespace(
        now=lambda: NOON + timedelta(seconds=loop.time()), elapsed=lambda: timedelta(seconds=loop.time())
    )


def a_cache(api: MemoryApi) -> ClusterCache:
    timing = replace(reflector_timing(STALE_AFTER), page=3)
    return ClusterCache(
        KubernetesSource(api), clock=a_clock(), kinds=(PODS,), stale_after=STALE_AFTER, timing=timing
    )


@asynccontextmanager
async def followed(api: MemoryApi) -> AsyncIterator[tuple[ClusterCache, Replica]]:
    """Run a cache of the server's pods, and what its changes give."""
    cache, replica = a_cache(api), Replica("pods")
    cache.subscribe(replica)
    async with asyncio.TaskGroup() as group:
        task = group.create_task(cache.run())
        await cache.synced(timedelta(seconds=60))
        yield cache, replica
        task.cancel()


async def churn(api: MemoryApi, seconds: float, chance: random.Random) -> None:
    """Create, change and delete pods for so long."""
    for _ in range(int(seconds / EVERY)):
        names, roll = sorted(api.objects[memory_api.PODS]), chance.random()
        if roll < 0.3 and len(names) > 4:
            api.drop(memory_api.PODS, chance.choice(names))
        elif roll < 0.7 and names:
            api.put(memory_api.PODS, chance.choice(names))
        else:
            api.put(memory_api.PODS, f"p{chance.getrandbits(30):x}")
        await asyncio.sleep(EVERY)


def refuse_the_next(api: MemoryApi) -> None:
    api.refuses_watches = 1
    api.end_watches()


def expire(api: MemoryApi) -> None:
    """The next watch opens, and its first event is an ERROR."""
    api.compact()
    api.end_watches()


def expire_after_a_bookmark(api: MemoryApi) -> None:
    api.send_bookmarks()
    asyncio.get_running_loop().call_later(1, expire, api)


def expire_while_paging(api: MemoryApi) -> None:
    api.expires_while_paging = 2
    expire(api)


def end(api: MemoryApi) -> None:
    api.end_watches()


def end_after_a_bookmark(api: MemoryApi) -> None:
    api.send_bookmarks()
    asyncio.get_running_loop().call_later(0.1, api.end_watches)


def hang_up_for_a_while(api: MemoryApi) -> None:
    api.hang_up_watches(True)
    asyncio.get_running_loop().call_later(8, api.hang_up_watches, False)


def stall(api: MemoryApi) -> None:
    api.stall_watches()


def stall_after_a_bookmark(api: MemoryApi) -> None:
    api.send_bookmarks()
    asyncio.get_running_loop().call_later(0.1, api.stall_watches)


def fall_silent(api: MemoryApi) -> None:
    api.fall_silent(True)
    asyncio.get_running_loop().call_later(120, api.fall_silent, False)


def fall_silent_while_paging(api: MemoryApi) -> None:
    api.silence_while_paging = 120
    expire(api)


@dataclass(frozen=True, kw_only=True)
class Case:
    """A way to break watches. `is_whole`: they continue from their version, so each single change is published."""

    name: str
    breaks: Callable[[MemoryApi], None]
    is_whole: bool


CASES = [
    Case(name="410 in the stream", breaks=expire, is_whole=False),
    Case(name="410 to the request", breaks=refuse_the_next, is_whole=False),
    Case(name="410 after a bookmark", breaks=expire_after_a_bookmark, is_whole=False),
    Case(name="410 while paging", breaks=expire_while_paging, is_whole=False),
    Case(name="an end", breaks=end, is_whole=True),
    Case(name="an end after a bookmark", breaks=end_after_a_bookmark, is_whole=True),
    Case(name="ends at once", breaks=hang_up_for_a_while, is_whole=True),
    Case(name="a stall", breaks=stall, is_whole=True),
    Case(name="a stall after a bookmark", breaks=stall_after_a_bookmark, is_whole=True),
    Case(name="silence", breaks=fall_silent, is_whole=False),
    Case(name="silence while paging", breaks=fall_silent_while_paging, is_whole=False),
]


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
async def test_no_change_is_missed(looptime: Any, case: Case) -> None:
    api, chance = MemoryApi(), random.Random(11)
    for number in range(20):
        api.put(memory_api.PODS, f"p{number}")
    begun = api.version
    async with followed(api) as (cache, replica):
        for _ in range(3):
            await churn(api, 20 + 30 * chance.random(), chance)
            case.breaks(api)
        await churn(api, 20, chance)
        await asyncio.sleep(6 * 60)  # twice silent for two minutes, and the longest waits between tries
        assert replica.versions == api.versions(memory_api.PODS)
        assert replica.missed == []
        assert (api.refuses_watches, api.expires_while_paging, api.silence_while_paging) == (0, 0, 0)
        assert not isinstance(cache.snapshot(PODS), Blind)
        if case.is_whole:
            assert cache.status()[0].lists == 1
            assert replica.count == 20 + api.version - begun


async def test_what_a_server_that_hangs_up_for_long_shows_is_never_too_old(looptime: Any) -> None:
    """A watch that ends at once says nothing about what changed meanwhile."""
    api = MemoryApi()
    async with followed(api) as (cache, _):
        api.hang_up_watches(True)
        for number in range(30):
            api.put(memory_api.PODS, f"p{number}")
            written = {f"p{one}" for one in range(number + 1)}
            await asyncio.sleep(STALE_AFTER.total_seconds())
            seen = cache.snapshot(PODS)
            assert isinstance(seen, Blind) or set(seen.objects) == written
            assert not isinstance(seen, Blind)  # lists are answered


async def test_one_stalled_watch_is_replaced_within_the_watchdogs_time(looptime: Any) -> None:
    api = MemoryApi()
    timing = reflector_timing(STALE_AFTER)
    async with followed(api) as (_, replica):
        loop = asyncio.get_running_loop()
        for _ in range(5):
            api.put(memory_api.PODS, "before")
            await asyncio.sleep(17)
            api.stall_watches()
            stalled_at = loop.time()
            api.put(memory_api.PODS, "after")
            while replica.versions != api.versions(memory_api.PODS):  # noqa: ASYNC110 - in virtual time
                await asyncio.sleep(0.5)
            assert loop.time() - stalled_at <= timing.watch + timing.grace + 1


@pytest.mark.parametrize("answers_lists", [False, True])
async def test_silence_makes_it_blind_as_soon_as_the_setting_says(looptime: Any, answers_lists: bool) -> None:
    api = MemoryApi()
    async with followed(api) as (cache, _):
        loop = asyncio.get_running_loop()
        await churn(api, 33, random.Random(5))
        api.stall_watches() if answers_lists else api.fall_silent(True)
        api.put(memory_api.PODS, "unseen")
        last = api.last_sent
        while not isinstance(cache.snapshot(PODS), Blind) and loop.time() - last < 600:
            await asyncio.sleep(0.1)
            if answers_lists and "unseen" in cache.snapshot(PODS).objects:  # type: ignore[union-attr]
                break
        assert loop.time() - last <= STALE_AFTER.total_seconds() + 0.2
