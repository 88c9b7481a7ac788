"""The loop that passes each controller the keys to reconcile."""

import asyncio
import logging
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from demo.lookalikes.kubernetes.cluster import Cluster
from demo.lookalikes.kubernetes.controllers.catalogue import all_controllers
from demo.lookalikes.kubernetes.controllers.controller import Controller, Settings
from demo.lookalikes.kubernetes.controllers.indexes import Indexes
from demo.lookalikes.kubernetes.errors import RefusedError
from demo.lookalikes.kubernetes.store import Change, ObjectKey

_log = logging.getLogger(__name__)
_BATCH = 100  # keys to reconcile before the event loop runs other tasks
_RETRY = timedelta(seconds=1)


@dataclass(slots=True)
class _Queue:
    controller: Controller
    dirty: dict[ObjectKey, None] = field(default_factory=dict)
    due: dict[ObjectKey, datetime] = field(default_factory=dict)


async def run_controllers(cluster: Cluster, settings: Settings, crashes: list[Exception]) -> None:
    """Run all controllers until cancelled. Log each crash, add it to `crashes`, and retry the key later."""
    indexes = Indexes(cluster)
    queues = [_Queue(controller) for controller in all_controllers(cluster, indexes, settings)]
    wake = asyncio.Event()

    def enqueue(change: Change) -> None:
        indexes.update(change)  # first: the controllers read the indexes
        for queue in queues:
            for key in queue.controller.concerns(change):
                queue.dirty[key] = None
        wake.set()

    for kind in cluster.kinds:
        for stored in cluster.store.all(kind):
            enqueue(Change(stored.version, "ADDED", kind, stored, None))
    stop = cluster.store.listen(enqueue)
    try:
        while True:
            wake.clear()
            now = cluster.clock()
            for queue in queues:
                for key in [key for key, at in queue.due.items() if at <= now]:
                    del queue.due[key]
                    queue.dirty[key] = None
            for queue in queues:
                await _drain(queue, cluster, crashes)
            if not any(queue.dirty for queue in queues):
                try:
                    async with asyncio.timeout(settings.tick.total_seconds()):
                        await wake.wait()
                except TimeoutError:
                    pass
    finally:
        stop()


async def _drain(queue: _Queue, cluster: Cluster, crashes: list[Exception]) -> None:
    for index, key in enumerate(list(queue.dirty)):
        queue.dirty.pop(key, None)
        try:
            retry_at = queue.controller.reconcile(key)
        except RefusedError as refusal:
            _log.debug("%s: %s refused: %s", type(queue.controller).__name__, key, refusal.message)
            retry_at = cluster.clock() + _RETRY
        except Exception as crash:  # one broken object must not stop the control plane
            _log.exception("%s crashed on %s", type(queue.controller).__name__, key)
            if len(crashes) < 20:
                crashes.append(crash)
            retry_at = cluster.clock() + 5 * _RETRY
        if retry_at is not None:
            queue.due[key] = retry_at
        else:
            queue.due.pop(key, None)
        if index % _BATCH == _BATCH - 1:
            await asyncio.sleep(0)
