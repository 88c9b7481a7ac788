"""The run recorder: stores how long each training took that has ended, before it is deleted."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta

from alerts.store import Store
from bot.jobs.each_training import EachTraining
from bot.jobs.training_report import peak_memory
from bot.live_cluster import LiveCluster
from collectors.facts.clock import Clock
from collectors.internal_errors import InternalErrors
from collectors.trainings.training import Training
from commands.training.training_runs import TrainingRun, run_of

# For so long after a run its memory is still asked for. A run that ended longer ago was seen by no process.
MEASURED = timedelta(hours=1)


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
        self._clock = clock
        self._errors = errors or InternalErrors()
        self._ended = EachTraining(
            clusters, concerns=lambda one: one.state.is_over, began=lambda one: one.started
        )

    async def run(self) -> None:
        """Run until cancelled."""
        await self._ended.run(self.check)

    async def check(self) -> None:
        """Store the runs that have ended since the last time, one unit for each cluster."""
        for cluster, ended in self._ended.left():
            new = [(one, run) for one in ended if (run := run_of(one, cluster.name)) is not None]
            try:
                await self._store_new(new, cluster)
            except Exception as error:  # one cluster's bug must not stop the others
                self._errors.contain(error, "training runs", cluster=cluster.name)

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
        for training, _ in new:
            self._ended.done(cluster, training)

    async def _measured(
        self, training: Training, run: TrainingRun, cluster: LiveCluster, now: datetime
    ) -> TrainingRun:
        if now - run.at > MEASURED:
            return run
        return replace(run, peak_memory=await peak_memory(training, run.started, cluster, now))
