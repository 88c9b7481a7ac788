"""The migration that finds plans by their end, and drops a field that old requests had."""

import json
import sqlite3
from datetime import UTC, datetime
from pathlib import Path

from alerts.store import Between
from bot.store.sql_store import SqlStore
from commands.execution.plan import Plan
from commands.execution.record_steps import record
from commands.gpu.reclaim_card import reclaim_card
from commands.models import ReclaimRequest, ReclaimState
from tests.support.execution import NOON, plan_of
from tests.support.old_store import take_back
from tests.support.rows import a_request
from tests.support.yard import text_of

REQUEST = a_request(
    NOON, cluster="prod", training="vision/Job/detr", grace_until=NOON, state=ReclaimState.FREED
)


async def test_plans_are_found_by_their_end_and_a_request_says_that_it_was_deleted(tmp_path: Path) -> None:
    file = tmp_path / "yard.db"
    store = await SqlStore.open(f"sqlite+aiosqlite:///{file}")
    plan = plan_of(record("reclaim_requests", REQUEST, text="record"))
    ended = datetime(2026, 11, 21, 13, tzinfo=UTC)
    async with store.unit() as unit:
        await unit.rows(Plan).put(plan)
        await unit.rows(ReclaimRequest).put(REQUEST)
    await store.close()
    await take_back(file, "0017")
    with sqlite3.connect(file) as before:
        _as_before(before, ended)
    before.close()

    store = await SqlStore.open(f"sqlite+aiosqlite:///{file}")
    async with store.read() as rows:
        (found,) = await rows.rows(Plan).find(cluster=plan.cluster, ended_at=Between(start=ended))
        assert await rows.rows(Plan).find(ended_at=Between(end=ended, start="1")) == []
        (request,) = await rows.rows(ReclaimRequest).find()
    await store.close()
    (step,) = found.steps
    assert "is_for_good" not in str(step)
    card = text_of(reclaim_card(request, NOON, plan="p1"))
    assert "No answer in time: it was deleted, as Kueue would have resumed it." in card
    assert "Start it again" not in card


def _as_before(connection: sqlite3.Connection, ended: datetime) -> None:
    """Make the documents what the release before would have left."""
    (plan,) = connection.execute("SELECT document FROM plans").fetchone()
    document = json.loads(plan)
    document["ended_at"] = ended.isoformat()
    document["stages"][0]["steps"][0]["row"]["is_for_good"] = True
    connection.execute("UPDATE plans SET document = ?", (json.dumps(document),))
    (request,) = connection.execute("SELECT document FROM reclaim_requests").fetchone()
    changed = {**json.loads(request), "is_for_good": True}
    connection.execute("UPDATE reclaim_requests SET document = ?", (json.dumps(changed),))
