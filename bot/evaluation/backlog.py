"""The backlog: what was found and is not recorded yet, as the store cannot be used. Evaluation goes on meanwhile."""

from collections.abc import Mapping
from datetime import datetime, timedelta

import structlog

from alerts.alert_batch import AlertBatch
from alerts.rules import Rule
from alerts.store import StoreError
from bot.evaluation.recorder import IncidentRecorder
from collectors.facts.clock import LARGE_STEP, Clock
from collectors.facts.topology import Topology

TRY_AGAIN = timedelta(seconds=5)  # after a failure: the store may wait for 10 s for another process
MOST_KEPT = 20_000  # changes of alerts; with more, the cluster begins again from what is stored

_log = structlog.get_logger()


class Backlog:
    """Brings batches to the recorder. Those that it could not store become one, which is brought again.

    `changes` is how many changes of alerts wait.
    """

    def __init__(self, cluster: str, recorder: IncidentRecorder, clock: Clock) -> None:
        self._cluster = cluster
        self._recorder = recorder
        self._clock = clock
        self._waiting: AlertBatch | None = None
        self._step = timedelta()  # by which stored incidents are not restated yet
        self._try_at = timedelta()  # by the monotonic clock

    @property
    def changes(self) -> int:
        return len(self._waiting.updates) if self._waiting is not None else 0

    @property
    def is_waiting(self) -> bool:
        """Whether the store could not be used the last time."""
        return self._waiting is not None

    @property
    def due_in(self) -> float | None:
        """The seconds until what waits is brought again; None if nothing waits."""
        return (self._try_at - self._clock.elapsed()).total_seconds() if self.is_waiting else None

    def clear(self) -> None:
        """Forget what waits: the state in memory is replaced with the store's, and what was missed is evaluated."""
        self._waiting = None

    def restate(self, by: timedelta) -> None:
        """Move what waits by a clock step of so much, and before it what is stored."""
        self._step += by
        if self._waiting is not None:
            self._waiting = self._waiting.restated(by)

    async def record_step(self, now: datetime) -> None:
        """Move the stored incidents after a clock step, if it was large: a second does not matter to an incident."""
        try:
            await self._record_step(now)
        except StoreError as error:
            _log.warning("a clock step is not recorded yet", cluster=self._cluster, reason=str(error))

    async def record(self, batch: AlertBatch, *, rules: Mapping[str, Rule], topology: Topology) -> None:
        """Record the batch with what waits, or keep it. Raises StoreError when too much waits."""
        failed_before = self.is_waiting
        self._waiting = self._waiting.then(batch) if self._waiting is not None else batch
        if failed_before and self._clock.elapsed() < self._try_at:
            return
        try:
            await self._record_step(batch.at)
            await self._recorder.record(self._waiting, rules=rules, topology=topology)
        except StoreError as error:
            self._try_at = self._clock.elapsed() + TRY_AGAIN
            if self.changes > MOST_KEPT:
                raise
            if not failed_before:
                _log.error("alerts wait for the store", cluster=self._cluster, reason=str(error))
            return
        except BaseException:
            self._waiting = None  # the next cycle, or the next start, finds it again
            raise
        if failed_before:
            _log.info("the alerts that waited are recorded", cluster=self._cluster, changes=self.changes)
        self._waiting = None

    async def _record_step(self, now: datetime) -> None:
        if abs(self._step) >= LARGE_STEP:
            await self._recorder.restate(self._step, now)
            self._step = timedelta()
