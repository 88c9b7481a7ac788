"""The jobs of one channel, the most urgent that is ready first, found without looking at the others."""

import asyncio
import itertools
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field
from heapq import heappop, heappush
from typing import Any, NamedTuple

from bot.delivery.card_entries import CardEntry, DeliveryJob
from bot.delivery.retry import TIMER_TOLERANCE


class Lane(NamedTuple):
    """What limits are by."""

    method: str  # that is called; empty for none
    is_critical: bool  # the card
    is_refresh: bool  # only figures change


ReadyAt = Callable[[Lane], float]  # the loop time from which the limits let a lane's jobs go
DueJob = tuple[float, DeliveryJob]  # with the loop time before which it must not run


@dataclass(order=True, slots=True)
class _Queued:
    key: tuple[Any, ...]
    number: int
    job: DeliveryJob = field(compare=False)
    version: int = field(compare=False)


class JobQueue:
    """Entries and their jobs. An entry has one job at a time in progress: from `take` to `done`.

    `jobs_of` gives an entry's jobs. They are asked for when the entry is put, not when time passes.
    """

    def __init__(self, jobs_of: Callable[[CardEntry], Iterable[DueJob]]) -> None:
        self._jobs_of = jobs_of
        self._entries: dict[str, CardEntry] = {}
        self._children: dict[str, set[str]] = {}  # entries by the card whose thread they are in
        self._versions: dict[str, int] = {}  # a job of an older version of its entry is not done
        self._busy: set[str] = set()
        self._later: list[_Queued] = []  # by when they are due
        self._lanes: dict[Lane, list[_Queued]] = {}  # by rank
        self._numbers = itertools.count()

    def __len__(self) -> int:
        return len(self._entries)

    @property
    def entries(self) -> Collection[CardEntry]:
        return self._entries.values()

    @property
    def in_progress(self) -> int:
        return len(self._busy)

    def is_busy(self, entry: CardEntry) -> bool:
        return entry.card.id in self._busy

    def put(self, entry: CardEntry) -> None:
        """Queue the jobs of an entry again. One that is in progress is queued by `done`."""
        id = entry.card.id
        self._entries[id] = entry
        if entry.card.parent:
            self._children.setdefault(entry.card.parent, set()).add(id)
        if id not in self._busy:
            self._queue(entry)

    def take(self, job: DeliveryJob) -> None:
        """Begin a job: the entry's others wait for its end."""
        self._busy.add(job.entry.card.id)
        self._versions[job.entry.card.id] = next(self._numbers)

    def done(self, entry: CardEntry) -> None:
        """Note the end of an entry's job."""
        self._busy.discard(entry.card.id)

    def remove(self, entry: CardEntry) -> None:
        id = entry.card.id
        self._entries.pop(id, None)
        self._versions.pop(id, None)
        if (children := self._children.get(entry.card.parent or "")) is not None:
            children.discard(id)
            if not children:
                del self._children[entry.card.parent or ""]

    def put_children(self, entry: CardEntry) -> None:
        """Queue what waits for this card's message."""
        for id in self._children.get(entry.card.id, ()):
            self.put(self._entries[id])

    def next(self, ready_at: ReadyAt) -> tuple[DeliveryJob | None, float]:
        """Return the most urgent job that is ready, else one that is ready first, and when."""
        now = asyncio.get_running_loop().time()
        while self._later and self._later[0].key[0] <= now + TIMER_TOLERANCE:
            queued = heappop(self._later)
            if self._is_current(queued):
                self._push(queued.job, queued.version)
        best: tuple[float, tuple[Any, ...], DeliveryJob] | None = None
        for lane, queue in self._lanes.items():
            self._drop_outdated(queue)
            if queue:
                ready = max(now, ready_at(lane))
                if best is None or (ready, queue[0].key) < best[:2]:
                    best = (ready, queue[0].key, queue[0].job)
        self._drop_outdated(self._later)
        if self._later and (best is None or self._later[0].key[0] < best[0]):
            return self._later[0].job, float(self._later[0].key[0])
        return (None, 0.0) if best is None else (best[2], best[0])

    def _queue(self, entry: CardEntry) -> None:
        version = self._versions[entry.card.id] = next(self._numbers)
        now = asyncio.get_running_loop().time()
        for due, job in self._jobs_of(entry):
            if due > now + TIMER_TOLERANCE:
                heappush(self._later, _Queued((due,), next(self._numbers), job, version))
            else:
                self._push(job, version)
        if self._size() > 8 * len(self._entries) + 100:
            self._sweep()

    def _push(self, job: DeliveryJob, version: int) -> None:
        lane = Lane(job.method, job.is_critical, job.is_refresh)
        queue = self._lanes.setdefault(lane, [])
        heappush(queue, _Queued(job.rank, next(self._numbers), job, version))

    def _is_current(self, queued: _Queued) -> bool:
        return self._versions.get(queued.job.entry.card.id) == queued.version

    def _drop_outdated(self, queue: list[_Queued]) -> None:
        while queue and not self._is_current(queue[0]):
            heappop(queue)

    def _size(self) -> int:
        return len(self._later) + sum(map(len, self._lanes.values()))

    def _sweep(self) -> None:
        """Forget outdated jobs that never came to the front: a sorted list is a heap."""
        self._later = sorted(filter(self._is_current, self._later))
        self._lanes = {lane: sorted(filter(self._is_current, queue)) for lane, queue in self._lanes.items()}
