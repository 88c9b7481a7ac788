"""Commits that plans share: in one transaction, in their order, and none lost with the one that commits."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from alerts.store import StoreError, Unit
from bot.store.sql_store import SqlStore
from commands.execution.plan_commits import Change, PlanCommits, Stopping
from commands.models import AuditEntry, CordonLease
from tests.support.counting_store import CountingStore
from tests.support.execution import LEASE, NOON
from tests.support.memory_store import MemoryStore
from tests.support.new_store import new_store
from tests.support.store_counts import counted

ENTRY = AuditEntry(id="", cluster="prod", at=NOON, actor="U", actor_name="u", line="", what="done")


def put(number: int) -> Change[int]:
    async def change(unit: Unit, _stopping: Stopping) -> int:
        await unit.rows(CordonLease).put(replace(LEASE, id=f"prod/{number}", reason=str(number)))
        return number

    return change


async def refused(_unit: Unit, _stopping: Stopping) -> int:
    raise ValueError("no")


async def ids(store: MemoryStore) -> list[str]:
    async with store.read() as snapshot:
        return [one.id for one in await snapshot.rows(CordonLease).find()]


async def test_what_waits_at_one_time_shares_a_transaction_and_each_gets_its_own_result() -> None:
    store = MemoryStore()
    counting = CountingStore(store)
    commits = PlanCommits(counting)
    assert await asyncio.gather(*(commits.run("p1", put(one)) for one in range(50))) == list(range(50))
    assert await ids(store) == [f"prod/{one}" for one in range(50)]
    assert counting.units == 1


async def test_one_that_cannot_be_done_fails_alone() -> None:
    store = MemoryStore()
    commits = PlanCommits(store)
    found = await asyncio.gather(
        commits.run("p1", put(1)),
        commits.run("p1", refused),
        commits.run("p1", put(2)),
        return_exceptions=True,
    )
    assert [str(one) for one in found] == ["1", "no", "2"]
    assert await ids(store) == ["prod/1", "prod/2"]


async def test_a_store_that_is_gone_fails_all_that_wait_at_once() -> None:
    class Gone(CountingStore):
        @asynccontextmanager
        async def unit(self) -> AsyncGenerator[Any]:
            self.units += 1
            await asyncio.sleep(0)
            raise StoreError("gone")
            yield

    gone = Gone(MemoryStore())
    commits = PlanCommits(gone)
    found = await asyncio.gather(*(commits.run("p1", put(one)) for one in range(9)), return_exceptions=True)
    assert {type(one) for one in found} == {StoreError}
    assert gone.units == 1


def add(id: str) -> Change[bool]:
    async def change(unit: Unit, _stopping: Stopping) -> bool:
        return await unit.rows(AuditEntry).add(replace(ENTRY, id=id))

    return change


async def test_what_the_parts_get_is_read_by_one_statement_however_many_they_are(tmp_path: Path) -> None:
    store = await SqlStore.open(new_store(tmp_path))
    commits = PlanCommits(store)

    async def added(*ids: str) -> list[bool]:
        return await asyncio.gather(*(commits.run("p1", add(id), [(AuditEntry, id)]) for id in ids))

    try:
        with counted() as counts:
            assert await added("a") == [True]
            one = counts["statements"]
            assert await added("a", *map(str, range(30))) == [False, *[True] * 30]
        assert counts["statements"] - one <= one
    finally:
        await store.close()


@pytest.mark.parametrize("moment", range(8))
async def test_a_plan_that_ends_while_it_commits_for_others_takes_nothing_of_theirs_along(
    moment: int,
) -> None:
    store = MemoryStore()
    commits = PlanCommits(store)
    async with asyncio.TaskGroup() as group:
        first = group.create_task(commits.run("p1", put(0)))
        others = [group.create_task(commits.run("p1", put(one))) for one in range(1, 4)]
        for _ in range(moment):
            await asyncio.sleep(0)
        first.cancel()
    assert [one.result() for one in others] == [1, 2, 3]
    assert [one for one in await ids(store) if one != "prod/0"] == ["prod/1", "prod/2", "prod/3"]
