"""Brings the checks forward when a node has changed, so that a failing node does not wait for their next interval."""

import asyncio
from contextlib import suppress

from bot.live_cluster import SNAPSHOT_EVERY
from collectors.cluster.cache import ObjectChange
from collectors.cluster.kinds import NODES

CHANGE_PACE = 5.0  # seconds between two cycles for changes of the cluster: a rack that fails is many


class NodeAlarm:
    """Notes the changes of a cluster's nodes, other than their heartbeats. Times are the event loop's, in seconds."""

    def __init__(self) -> None:
        self._woken = asyncio.Event()
        self._due: float | None = None
        self._rang_at = -CHANGE_PACE

    def note(self, change: ObjectChange) -> None:
        """Set the alarm: for when the change is in the cluster's snapshot, and the last alarm is long enough ago."""
        before, after = change.before, change.after
        if (
            change.kind == NODES.name
            and self._due is None
            and (
                before is None or after is None or (before.spec, before.status) != (after.spec, after.status)
            )
        ):
            now = asyncio.get_running_loop().time()
            self._due = max(now + SNAPSHOT_EVERY, self._rang_at + CHANGE_PACE)
            self._woken.set()

    def clear(self) -> None:
        self._due = None

    def rings(self, now: float) -> bool:
        """Return whether the checks are due, once."""
        if self._due is None or self._due > now:
            return False
        self._due, self._rang_at = None, now
        return True

    async def sleep(self, seconds: float) -> None:
        """Sleep this long, at most until the alarm rings. It may end early."""
        if self._due is not None:
            seconds = min(seconds, self._due - asyncio.get_running_loop().time())
        self._woken.clear()
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._woken.wait()
