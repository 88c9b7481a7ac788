"""Alarm for objects that fail: it brings the checks that read them forward, which else wait for their interval."""

import asyncio
from dataclasses import dataclass

from bot.event_waits import set_within
from bot.live_cluster import SNAPSHOT_EVERY
from collectors.cluster.failures import failed_kind
from collectors.cluster.kinds import NODES
from collectors.cluster.object_store import ObjectChange

CHANGE_PACE = 5.0  # seconds between two cycles for failures of one kind: a rack that fails is many
SLOWEST_PACE = 60.0  # while failures continue: by then the checks' own intervals are as good


@dataclass(slots=True)
class _Bell:
    """The alarm of one kind. Times are the event loop's, in seconds."""

    due: float | None = None
    rang_at: float = float("-inf")
    pace: float = CHANGE_PACE


class FailureAlarm:
    """Notes the objects that fail, by kind. The first of a kind rings at once, a storm of one kind ever more rarely.

    Nodes keep their pace: there are few of them, and what they take with them is much.
    """

    def __init__(self) -> None:
        self._woken = asyncio.Event()
        self._bells: dict[str, _Bell] = {}

    def note(self, change: ObjectChange) -> None:
        """Set the alarm of its kind: for when the snapshot has the change, and the last one is long enough ago."""
        bell = self._bells.get(change.kind)
        if (bell is not None and bell.due is not None) or not failed_kind(change):
            return
        if bell is None:
            bell = self._bells[change.kind] = _Bell()
        now = asyncio.get_running_loop().time()
        bell.due = max(now + SNAPSHOT_EVERY, bell.rang_at + bell.pace)
        self._woken.set()

    def clear(self) -> None:
        for bell in self._bells.values():
            bell.due = None

    def rings(self, now: float) -> frozenset[str]:
        """Return the kinds whose checks are due, each once."""
        ringing = {
            kind: bell for kind, bell in self._bells.items() if bell.due is not None and bell.due <= now
        }
        for kind, bell in ringing.items():
            is_calm = now - bell.rang_at > SLOWEST_PACE + CHANGE_PACE
            bell.pace = CHANGE_PACE if is_calm or kind == NODES.name else min(2 * bell.pace, SLOWEST_PACE)
            bell.due, bell.rang_at = None, now
        return frozenset(ringing)

    async def sleep(self, seconds: float) -> None:
        """Sleep this long, at most until an alarm rings. It may end early."""
        now = asyncio.get_running_loop().time()
        seconds = min([seconds, *(bell.due - now for bell in self._bells.values() if bell.due is not None)])
        self._woken.clear()
        await set_within(self._woken, seconds)
