"""Changes of clusters that a job follows: it checks after each, as soon as the cluster's snapshot has it."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import ExitStack
from functools import partial

from bot.event_waits import set_within
from bot.live_cluster import SNAPSHOT_EVERY, LiveCluster
from collectors.cluster.cache import ObjectChange

LONGEST_SLEEP = 15.0  # seconds: some things end without a change, and a cluster may be seen again without one


async def check_after_changes(
    check: Callable[[], Awaitable[None]],
    changed: asyncio.Event,
    clusters: Mapping[str, LiveCluster],
    note: Callable[[str, ObjectChange], None],
) -> None:
    """Check until cancelled: now, and whenever `changed` is set, which `note` does for a change that concerns it."""
    with ExitStack() as stack:
        for name, cluster in clusters.items():
            if cluster.cache is not None:
                stack.callback(cluster.cache.subscribe(partial(note, name)))
        while True:
            await check()
            await set_within(changed, LONGEST_SLEEP)
            changed.clear()
            await asyncio.sleep(SNAPSHOT_EVERY)
