"""A store of before the columns of due work is migrated: what was due is due, and its plans know what they expect."""

import json
import sqlite3
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import msgspec

from alerts.store import Between
from bot.store.sql_store import SqlStore
from collectors.facts.sentences import english
from commands.execution.plan import Plan
from commands.execution.steps import Record
from commands.gpu.reclaim_requests import request_step, settlement_step
from commands.models import CordonLease, ReclaimRequest, ReclaimState
from tests.support.alerting import CLUSTER, NOON, minutes
from tests.support.execution import plan_of
from tests.support.old_store import empty_store
from tests.support.rows import a_lease, a_request

LEASE = a_lease(NOON, until=NOON + minutes(10))
REQUEST = a_request(NOON)
BEFORE = "0002"  # the last revision without them


def the_plan() -> Plan:
    void = replace(REQUEST, state=ReclaimState.VOID)
    asked = request_step(REQUEST, text="request", before=void, scope=("vision",))
    return plan_of(asked, settlement_step(REQUEST))


def as_it_was(plan: Plan) -> dict[str, Any]:
    """Return the plan's document of before: its steps say nothing of what they expect."""
    document: dict[str, Any] = msgspec.to_builtins(plan, enc_hook=english)
    for stage in document["stages"]:
        for step in stage["steps"]:
            for name in ("expects", "goes_with", "scope"):
                step.pop(name, None)
    return document


async def old_store(path: Path, rows: dict[str, list[tuple[dict[str, str], Any]]]) -> None:
    await empty_store(path, BEFORE)
    with sqlite3.connect(path) as raw:
        for table, all_rows in rows.items():
            for number, (columns, document) in enumerate(all_rows):
                values = {**columns, "seq": number, "document": json.dumps(document)}
                names, marks = ", ".join(values), ", ".join("?" for _ in values)
                raw.execute(f"INSERT INTO {table} ({names}) VALUES ({marks})", tuple(values.values()))
    raw.close()


def a_row(row: Any, **columns: str) -> tuple[dict[str, str], Any]:
    return {"id": row.id, "cluster": CLUSTER, **columns}, msgspec.to_builtins(row)


async def test_what_was_due_is_due_and_plans_expect_what_the_program_knew(tmp_path: Path) -> None:
    plan = the_plan()
    reminded = replace(LEASE, id="prod-a/gpu-a02", node="gpu-a02", reminded_at=NOON)
    by_hand = replace(REQUEST, id="c2", is_automatic=False)
    columns = {"state": "asked", "training": "vision/detr"}
    await old_store(
        tmp_path / "yard.db",
        {
            "leases": [a_row(LEASE, node="gpu-a01"), a_row(reminded, node="gpu-a02")],
            "reclaim_requests": [a_row(REQUEST, **columns), a_row(by_hand, **columns)],
            "plans": [
                (
                    {
                        "id": plan.id,
                        "cluster": CLUSTER,
                        "state": "confirmed",
                        "incident": "",
                        "actor": "U_DANA",
                    },
                    as_it_was(plan),
                )
            ],
        },
    )
    store = await SqlStore.open(f"sqlite+aiosqlite:///{tmp_path / 'yard.db'}")
    try:
        async with store.read() as snapshot:
            found = await snapshot.rows(CordonLease).find(remind_at=Between(start="0"))
            assert [one.node for one in found] == ["gpu-a01"]
            late = Between(start="0", end=LEASE.until)
            assert not await snapshot.rows(CordonLease).find(remind_at=late)
            half = Between(start=NOON + minutes(15), end=NOON + minutes(15) + timedelta(seconds=1))
            assert [one.id for one in await snapshot.rows(ReclaimRequest).find(remind_at=half)] == ["c1"]
            settled = Between(start=REQUEST.grace_until)
            assert [one.id for one in await snapshot.rows(ReclaimRequest).find(settle_at=settled)] == ["c1"]
            migrated = await snapshot.rows(Plan).get(plan.id)
            assert migrated is not None
            assert expected_of(migrated) == expected_of(plan)
        async with store.unit() as unit:  # the columns are written like those that the migration filled
            await unit.rows(CordonLease).put(LEASE)
            assert len(await unit.rows(CordonLease).find(remind_at=LEASE.until or "")) == 1
    finally:
        await store.close()


def expected_of(plan: Plan) -> list[tuple[str, str, tuple[str, ...]]]:
    return [(step.expects, step.goes_with, step.scope) for step in plan.steps if isinstance(step, Record)]


def test_the_plan_of_this_test_has_what_is_migrated() -> None:
    assert expected_of(the_plan()) == [
        ("request c1 for vision/detr", "", ("vision",)),
        ("", "c1", ()),
    ]
