"""Removal of Jobs that ran on nodes: none is left behind, whatever became of its plan or of us."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta

import structlog

from alerts.store import Store
from bot.jobs.due_work import DueWork
from bot.live_cluster import LiveCluster
from collectors.facts.results import SourceError
from commands.execution.job_runs import JobRun
from commands.execution.object_refs import ObjectRef
from commands.execution.steps.nodejob import JOB_PLAN, JOB_RUN

AGAIN = timedelta(seconds=10)

_log = structlog.get_logger()


class JobRemoval:
    """Deletes a Job once it has ended or its longest time is over, and forgets it when it is seen to be gone."""

    def __init__(self, store: Store, clusters: Mapping[str, LiveCluster]) -> None:
        self._store = store
        self._clusters = clusters
        self.work = DueWork(name="jobs on nodes", row=JobRun, column="remove_at", do=self._remove)

    async def _remove(self, due: JobRun, now: datetime) -> timedelta | None:
        cluster = self._clusters.get(due.cluster)
        if cluster is None or cluster.writer is None:  # it is no longer in the settings
            await self._forget(due)
            return None
        job = ObjectRef(api="batch/v1", kind="Job", namespace=due.namespace, name=due.job)
        try:
            found = await cluster.writer.read(job)
            if found is None or not _is_of(found["metadata"], due):
                await self._forget(due)
                return None
            if not found["metadata"].get("deletionTimestamp"):
                uid = found["metadata"].get("uid", "")
                made = ObjectRef(api=job.api, kind=job.kind, namespace=job.namespace, name=job.name, uid=uid)
                await cluster.writer.delete(made)
                _log.info("removed the job of a node", node=due.node, job=due.job, plan=due.plan)
        except SourceError as error:
            _log.warning("job of a node not removed", node=due.node, job=due.job, reason=str(error)[:500])
        return AGAIN

    async def _forget(self, due: JobRun) -> None:
        async with self._store.unit() as unit:
            stored = await unit.rows(JobRun).get(due.id)
            if stored is not None and stored.remove_at is not None:
                await unit.rows(JobRun).put(replace(stored, remove_at=None))


def _is_of(meta: Mapping[str, Mapping[str, str]], due: JobRun) -> bool:
    annotations = meta.get("annotations") or {}
    return annotations.get(JOB_PLAN) == due.plan and annotations.get(JOB_RUN) == due.id
