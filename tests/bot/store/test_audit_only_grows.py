"""The audit only grows: no door to the store changes or deletes an entry."""

import sqlite3
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from alerts.store import TABLES, AppendOnlyError, TableDefinition
from bot.store.migrations.rewriting import REFUSING
from bot.store.sql_store import SqlStore
from commands.models import AuditEntry
from tests.support.memory_store import MemoryStore
from tests.support.rows import NOON, an_audit_entry

Stores = MemoryStore | SqlStore
KEPT = an_audit_entry()
KEPT_TOO = replace(KEPT, id="a2")
FORGED = replace(KEPT, actor="U2", actor_name="Eve")


async def entries(store: Stores) -> list[AuditEntry]:
    async with store.read() as snapshot:
        return list(await snapshot.rows(AuditEntry).find())


async def test_no_unit_changes_or_deletes_an_entry(store: Stores) -> None:
    async with store.unit() as unit:
        await unit.rows(AuditEntry).put(KEPT)
    with pytest.raises(AppendOnlyError, match="audit only grows: its row a1 stays as it is"):
        async with store.unit() as unit:
            await unit.rows(AuditEntry).put(FORGED)
    with pytest.raises(AppendOnlyError):
        async with store.unit() as unit:
            await unit.rows(AuditEntry).delete(KEPT.id)
    async with store.unit() as unit:  # nor one of its own unit
        await unit.rows(AuditEntry).put(KEPT_TOO)
        with pytest.raises(AppendOnlyError):
            await unit.rows(AuditEntry).delete(KEPT_TOO.id)
    async with store.unit() as unit:
        assert not await unit.rows(AuditEntry).add(FORGED)
        await unit.rows(AuditEntry).delete("none")
    assert await entries(store) == [KEPT, KEPT_TOO]


async def test_no_retention_deletes_an_entry(store: Stores) -> None:
    async with store.unit() as unit:
        await unit.rows(AuditEntry).put(KEPT)
    assert "audit" not in await store.prune(NOON + timedelta(days=10_000))
    assert await entries(store) == [KEPT]


def test_no_table_that_only_grows_can_be_declared_with_an_end() -> None:
    assert [one.name for one in TABLES.values() if one.append_only] == ["audit"]
    with pytest.raises(ValueError, match="log is append-only"):
        TableDefinition(name="log", row=AuditEntry, columns={}, over=lambda row: row.at, append_only=True)


RAW = (
    "UPDATE audit SET actor = 'U2'",
    "UPDATE OR REPLACE audit SET document = '{}' WHERE id = 'a1'",
    "UPDATE audit SET over_at = '2000-01-01T00:00:00.000000Z'",  # for the retention
    "DELETE FROM audit",
    "DELETE FROM audit WHERE id = 'a1'",
    "INSERT OR REPLACE INTO audit SELECT id, seq, cluster, 'U2', plan, at, over_at, document FROM audit",
    "INSERT OR REPLACE INTO audit (rowid, id, seq, cluster, actor, plan, at, document) "
    "VALUES (1, 'x', 9, '', '', '', '', '{}')",
    "INSERT INTO audit (id, seq, cluster, actor, plan, at, document) VALUES ('a1', 9, '', 'U2', '', '', '{}') "
    "ON CONFLICT (id) DO UPDATE SET actor = excluded.actor",
)


async def test_no_statement_changes_or_deletes_an_entry(tmp_path: Path) -> None:
    store = await SqlStore.open(f"sqlite+aiosqlite:///{tmp_path / 'yard.db'}")
    async with store.unit() as unit:
        await unit.rows(AuditEntry).put(KEPT)
    with closing(sqlite3.connect(tmp_path / "yard.db")) as raw:
        for statement in RAW:
            with pytest.raises(sqlite3.IntegrityError, match="audit only grows"):
                raw.execute(statement)
            raw.rollback()
    assert await entries(store) == [KEPT]
    await store.close()


def test_postgresql_refuses_the_same_and_to_truncate() -> None:
    function, *triggers = REFUSING["postgresql"]("audit")
    assert "RAISE EXCEPTION 'audit only grows'" in function
    assert [one.partition(" BEFORE ")[2].partition(" EXECUTE")[0] for one in triggers] == [
        "UPDATE ON audit FOR EACH ROW",
        "DELETE ON audit FOR EACH ROW",
        "TRUNCATE ON audit FOR EACH STATEMENT",
    ]
