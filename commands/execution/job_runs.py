"""The rows of Jobs that steps run on nodes: where each is, its log, and how it ended."""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum

from alerts.store import Store, stored
from collectors.facts.clock import Clock


class JobRunState(StrEnum):
    RUNNING = "running"  # or about to be created
    DONE = "done"
    FAILED = "failed"
    LOST = "lost"  # it ran, or may have, and its end was not seen


@stored("job_runs", "cluster", "node", "plan", "remove_at", goes_with=("plan", "plans"))
@dataclass(frozen=True, slots=True, kw_only=True)
class JobRun:
    """A Job that a step of a plan runs on a node: stored before it is created, and its end before it is removed."""

    id: str  # plan/node/script/turn
    cluster: str
    plan: str
    node: str
    node_uid: str
    script: str  # its name in the fixed list
    namespace: str
    job: str  # the name of the Job
    began_at: datetime
    uid: str = ""  # of the Job; empty until the API server has answered
    state: JobRunState = JobRunState.RUNNING
    reason: str = ""  # why it failed
    exit_code: int | None = None
    is_late: bool = False  # it ran, and was not done within its time
    log: str = ""  # its last lines, redacted and printable
    ended_at: datetime | None = None
    remove_at: datetime | None = None  # when the Job is removed, whoever began it; None once it is gone


class JobRuns:
    """The rows of the Jobs of one plan. Each is stored before its Job is created, so that a Job is never forgotten."""

    def __init__(self, store: Store, clock: Clock, *, cluster: str, plan: str) -> None:
        self._store = store
        self._clock = clock
        self.cluster = cluster
        self.plan = plan

    def now(self) -> datetime:
        return self._clock.now()

    def id_of(self, node: str, script: str, turn: int) -> str:
        return f"{self.plan}/{node}/{script}/{turn}"

    async def get(self, id: str) -> JobRun | None:
        async with self._store.read() as snapshot:
            return await snapshot.rows(JobRun).get(id)

    async def begin(self, run: JobRun, *, within: timedelta) -> JobRun:
        """Store that a Job is about to be created, which is removed in any case after this time."""
        begun = replace(run, remove_at=run.began_at + within)
        await self.put(begun)
        return begun

    async def put(self, run: JobRun) -> None:
        async with self._store.unit() as unit:
            await unit.rows(JobRun).put(run)

    async def forget(self, run: JobRun) -> None:
        """Delete the row of a Job that was surely not created."""
        async with self._store.unit() as unit:
            await unit.rows(JobRun).delete(run.id)
