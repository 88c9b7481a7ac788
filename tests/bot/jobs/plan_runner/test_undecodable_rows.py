"""A stored plan that cannot be decoded does not keep the others from running."""

import asyncio
import sqlite3
from pathlib import Path
from types import SimpleNamespace

from structlog.testing import capture_logs

from bot.jobs.plan_runner import PlanRunner
from bot.store.sql_store import SqlStore
from commands.execution.plan import Plan
from commands.execution.record_steps import record
from commands.models import CordonLease
from tests.support.execution import LEASE, executor, plan_of
from tests.support.new_store import new_store


async def test_a_plan_is_run_although_an_older_row_cannot_be_decoded(tmp_path: Path) -> None:
    store = await SqlStore.open(new_store(tmp_path))
    plan = plan_of(record("leases", LEASE, text="record the lease"))
    async with store.unit() as unit:
        await unit.rows(Plan).put(plan)
    with sqlite3.connect(tmp_path / "yard.db") as raw:
        raw.execute(
            "INSERT INTO plans (id, seq, cluster, state, incident, actor, ended_at, over_at, document) "
            "SELECT 'p0', 0, cluster, state, incident, actor, ended_at, over_at, '{}' FROM plans"
        )
    raw.close()
    runner = PlanRunner(store, executor(store, SimpleNamespace()), channel="C_GPU")  # type: ignore[arg-type]
    ended = asyncio.Event()

    def listen(changed: object) -> None:
        if "audit" in changed:  # type: ignore[operator]
            ended.set()

    store.listen(listen)
    with capture_logs() as logs:
        async with asyncio.timeout(10), asyncio.TaskGroup() as tasks:
            task = tasks.create_task(runner.run())
            await ended.wait()
            task.cancel()
    async with store.unit() as unit:
        assert [lease.node for lease in await unit.rows(CordonLease).find()] == [LEASE.node]
    await store.close()
    assert {log["id"] for log in logs if log["event"] == "internal error"} == {"p0"}
