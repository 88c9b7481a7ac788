"""Plans that are over are deleted with their steps; what is under way, and the audit, stays."""

import sqlite3
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

from bot.store.sql_store import SqlStore
from commands.execution.plan import Plan, PlanState, StepRecord
from commands.models import AuditEntry
from tests.support.alerting import CLUSTER
from tests.support.execution import NOON, plan_of
from tests.support.kept_store import RELEASES, unpack
from tests.support.new_store import new_store


async def test_plans_that_are_over_are_pruned_with_their_steps(tmp_path: Path) -> None:
    store = await SqlStore.open(new_store(tmp_path))
    plans = (
        replace(plan_of(), id="done", state=PlanState.DONE, ended_at=NOON),
        replace(plan_of(), id="never confirmed", state=PlanState.PROPOSED),
        replace(plan_of(), id="runs", state=PlanState.RUNNING),
        replace(plan_of(), id="later", state=PlanState.FAILED, ended_at=NOON + timedelta(days=9)),
    )
    async with store.unit() as unit:
        for plan in plans:
            await unit.rows(Plan).put(plan)
            await unit.rows(StepRecord).put(StepRecord(plan=plan.id, number=0, cluster=CLUSTER))
        entry = AuditEntry(
            id="a", cluster=CLUSTER, at=NOON, actor="U", actor_name="u", line="x", what="done", plan="done"
        )
        await unit.rows(AuditEntry).put(entry)
    await store.prune(NOON + timedelta(days=1))
    async with store.read() as snapshot:
        assert [plan.id for plan in await snapshot.rows(Plan).find()] == ["runs", "later"]
        assert [step.plan for step in await snapshot.rows(StepRecord).find()] == ["runs", "later"]
        assert [one.id for one in await snapshot.rows(AuditEntry).find()] == ["a"]
    await store.close()


async def test_plans_of_earlier_releases_are_pruned_too(tmp_path: Path) -> None:
    for release in RELEASES:
        file = unpack(release, tmp_path)
        store = await SqlStore.open(f"sqlite+aiosqlite:///{file}")
        async with store.read() as snapshot:
            over = [plan.id for plan in await snapshot.rows(Plan).find() if plan.has_ended]
        await store.close()
        with closing(sqlite3.connect(file)) as raw:
            known = [id for (id,) in raw.execute("SELECT id FROM plans WHERE over_at IS NOT NULL")]
        assert over
        assert set(over) <= set(known)
