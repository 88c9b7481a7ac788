"""Stores that releases wrote: migrated, they show what they showed then."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from bot.store.sql_store import SqlStore
from commands.execution.plan import Plan
from commands.models import DueCommand, Person
from tests.support.kept_store import RELEASES, shown_then, unpack
from tests.support.shown_rows import shown_rows


@pytest.mark.parametrize("release", RELEASES)
async def test_a_kept_store_shows_what_it_showed_then(release: str, tmp_path: Path) -> None:
    file = unpack(release, tmp_path)
    empty = _empty_tables(file)
    store = await SqlStore.open(f"sqlite+aiosqlite:///{file}")
    async with store.read() as snapshot:
        shown = await shown_rows(snapshot)
    await store.close()
    then = shown_then(release)
    del then["at"]
    for plan in (*shown["plans"], *then["plans"]):
        if plan["state"] == "done":
            # nobody confirms it any more, and the rows that its steps stored have other keys
            del plan["hash"]
    for table, rows in then.items():
        assert shown[table] == rows, table
    assert not empty, "a table that has no row is not tested: see tests/recordings/stores/README.md"


def _empty_tables(file: Path) -> list[str]:
    with closing(sqlite3.connect(file)) as raw:
        names = [name for (name,) in raw.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        return [name for name in names if not raw.execute(f"SELECT count(*) FROM {name}").fetchone()[0]]


async def test_persons_are_named_by_ids_with_their_kind(tmp_path: Path) -> None:
    store = await SqlStore.open(f"sqlite+aiosqlite:///{unpack('55549235', tmp_path)}")
    async with store.read() as snapshot:
        persons = {person.id: (person.ids, person.name) for person in await snapshot.rows(Person).find()}
        plans = {plan.id: (plan.actor, plan.confirmed_by) for plan in await snapshot.rows(Plan).find()}
        by_column = await snapshot.rows(Plan).find(actor="token:ci")
        (due,) = await snapshot.rows(DueCommand).find()
    await store.close()
    assert persons["slack:U0DANA0000"] == (("slack:U0DANA0000",), "dana")
    assert set(persons) == {f"slack:U0{name:0<8}" for name in ("DANA", "ELI", "ANA", "BO", "CHEN")} | {
        "token:ci"
    }
    assert plans["p3"] == ("slack:U0ELI00000", "slack:U0ELI00000")
    assert plans["p6"] == ("token:ci", "token:ci")
    assert plans["p11"] == ("automation:reclaim", "automation:reclaim")
    assert [plan.id for plan in by_column] == ["p6"]
    assert due.actor == "automation:reclaim"
