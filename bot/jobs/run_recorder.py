"""The run recorder: stores how long each training took that has ended, before it is deleted."""

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta

from alerts.store import Store
from bot.jobs.cluster_changes import check_after_changes
from bot.jobs.training_report import peak_memory
from bot.live_cluster import LiveCluster
from collectors.cluster.cache import ObjectChange
from collectors.cluster.kinds import owner_kinds
from collectors.facts.clock import Clock
from collectors.facts.results import SourceError
from collectors.internal_errors import InternalErrors
from collectors.trainings.training import Training
from commands.training.training_runs import TrainingRun, run_of

# For so long after a run its memory is still asked for. A run that ended longer ago was seen by no process.
MEASURED = timedelta(hours=1)

_Key = tuple[str, str, datetime | None]  # cluster, key of the training, when it started


class RunRecorder:
    """Stores a row for each run that it sees at its end, once."""

    def __init__(
        self,
        store: Store,
        clusters: Mapping[str, LiveCluster],
        clock: Clock,
        *,
        errors: InternalErrors | None = None,
    ) -> None:
        self._store = store
        self._clusters = clusters
        self._clock = clock
        self._errors = errors or InternalErrors()
        self._known: set[_Key] = set()  # of stored runs, whose trainings are still there
        self._kinds = frozenset(kind.name for kind in owner_kinds().values())
        self._changed = asyncio.Event()

    def _note(self, _cluster: str, change: ObjectChange) -> None:
        """Wake up when a training may have ended."""
        if change.kind in self._kinds:
            self._changed.set()

    async def run(self) -> None:
        """Run until cancelled."""
        await check_after_changes(self.check, self._changed, self._clusters, self._note)

    async def check(self) -> None:
        """Store the runs that have ended since the last time, one unit for each cluster."""
        seen: set[_Key] = set()
        for name, cluster in self._clusters.items():
            try:
                trainings = cluster.trainings()
            except SourceError:
                seen |= {key for key in self._known if key[0] == name}
                continue
            ended = {(name, one.id, one.started): one for one in trainings if one.state.is_over}
            seen |= ended.keys()
            new = [
                (one, run)
                for key, one in ended.items()
                if key not in self._known and (run := run_of(one, name)) is not None
            ]
            try:
                await self._store_new(new, cluster)
            except Exception as error:  # one cluster's bug must not stop the others
                self._errors.contain(error, "training runs", cluster=name)
        self._known &= seen

    async def _store_new(self, new: list[tuple[Training, TrainingRun]], cluster: LiveCluster) -> None:
        if not new:
            return
        async with self._store.read() as snapshot:
            rows = snapshot.rows(TrainingRun)
            missing = [(training, run) for training, run in new if await rows.get(run.id) is None]
        now = self._clock.now()
        measured = [await self._measured(training, run, cluster, now) for training, run in missing]
        if measured:
            async with self._store.unit() as unit:
                for run in measured:
                    await unit.rows(TrainingRun).add(run)
        self._known |= {(cluster.name, one.id, one.started) for one, _ in new}

    async def _measured(
        self, training: Training, run: TrainingRun, cluster: LiveCluster, now: datetime
    ) -> TrainingRun:
        if now - run.at > MEASURED:
            return run
        return replace(run, peak_memory=await peak_memory(training, run.started, cluster, now))
