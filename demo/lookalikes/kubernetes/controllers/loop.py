"""This file runs the controllers: one loop that hands each one the keys it should look at again."""

from __future__ import annotations

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
_BATCH = 100  # keys that are looked at before requests get their turn
_RETRY = timedelta(seconds=1)


@dataclass(slots=True)
class _Work:
    controller: Controller
    dirty: dict[ObjectKey, None] = field(default_factory=dict)
    due: dict[ObjectKey, datetime] = field(default_factory=dict)


async def run_controllers(cluster: Cluster, settings: Settings, crashes: list[Exception]) -> None:
    """Run all controllers until cancelled. What crashes is logged, put on the list and tried again later."""
    indexes = Indexes(cluster)
    works = [_Work(controller) for controller in all_controllers(cluster, indexes, settings)]
    wake = asyncio.Event()

    def hear(change: Change) -> None:
        indexes.hear(change)  # first: the controllers look things up in it
        for work in works:
            for key in work.controller.concerns(change):
                work.dirty[key] = None
        wake.set()

    for kind in cluster.kinds:
        for stored in cluster.store.all(kind):
            hear(Change(stored.version, "ADDED", kind, stored, None))
    stop = cluster.store.listen(hear)
    try:
        while True:
            wake.clear()
            now = cluster.clock()
            for work in works:
                for key in [key for key, at in work.due.items() if at <= now]:
                    del work.due[key]
                    work.dirty[key] = None
            for work in works:
                await _drain(work, cluster, crashes)
            if not any(work.dirty for work in works):
                try:
                    async with asyncio.timeout(settings.tick.total_seconds()):
                        await wake.wait()
                except TimeoutError:
                    pass
    finally:
        stop()


async def _drain(work: _Work, cluster: Cluster, crashes: list[Exception]) -> None:
    for place, key in enumerate(list(work.dirty)):
        work.dirty.pop(key, None)
        try:
            again = work.controller.reconcile(key)
        except RefusedError as refusal:
            _log.debug("%s: %s refused: %s", type(work.controller).__name__, key, refusal.message)
            again = cluster.clock() + _RETRY
        except Exception as crash:  # one broken object must not stop the control plane
            _log.exception("%s crashed on %s", type(work.controller).__name__, key)
            if len(crashes) < 20:
                crashes.append(crash)
            again = cluster.clock() + 5 * _RETRY
        if again is not None:
            work.due[key] = again
        else:
            work.due.pop(key, None)
        if place % _BATCH == _BATCH - 1:
            await asyncio.sleep(0)
