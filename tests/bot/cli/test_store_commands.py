"""`yardmaster store check|backup|restore`: what is wrong with a store, and how it gets well."""

import asyncio
import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from alerts.store import StoreError
from bot.cli.program import main
from bot.store.sql_store import SqlStore
from commands.models import HandledRequest

WHEN = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """The file of a store with one row, as a process left it."""
    file = tmp_path / "yard.db"
    asyncio.run(put(file, "a"))
    return file


async def opened(file: Path, *, alone: bool = False) -> SqlStore:
    return await SqlStore.open(f"sqlite+aiosqlite:///{file}", alone=alone)


async def put(file: Path, id: str) -> None:
    store = await opened(file)
    async with store.unit() as unit:
        await unit.rows(HandledRequest).put(HandledRequest(id=id, at=WHEN))
    await store.close()


def ids(file: Path) -> list[str]:
    with closing(sqlite3.connect(file)) as connection:
        return [id for (id,) in connection.execute("SELECT id FROM handled_requests ORDER BY seq")]


def run(file: Path, *words: str) -> Result:
    """Run the command with settings that name the file."""
    settings = file.parent / "yardmaster.yaml"
    settings.write_text(f"store: {{url: 'sqlite+aiosqlite:///{file}'}}\n", encoding="utf-8")
    return CliRunner().invoke(main, ["store", words[0], "--config", str(settings), *words[1:]])


def execute(file: Path, *statements: str) -> None:
    with closing(sqlite3.connect(file)) as connection:
        for statement in statements:
            connection.execute(statement)
        connection.commit()


def damage(file: Path) -> None:
    content = bytearray(file.read_bytes())
    for at in range(4096 + 2048, len(content), 4096):  # the first page has the schema
        content[at : at + 1024] = b"\xaa" * 1024
    file.write_bytes(content)


def test_a_whole_store_is_reported_as_whole(file: Path) -> None:
    done = run(file, "check")
    assert (done.exit_code, done.output) == (0, f"{file} is whole, and every row of it can be read.\n")


def test_a_row_that_cannot_be_read_is_named(file: Path) -> None:
    execute(file, "UPDATE handled_requests SET document = '{\"id\": 5}' WHERE id = 'a'")
    done = run(file, "check")
    assert done.exit_code == 1
    assert "rows of handled_requests cannot be read: a" in done.output
    assert "yardmaster store restore" in done.output


def test_a_damaged_store_is_reported_as_damaged(file: Path) -> None:
    damage(file)
    done = run(file, "check")
    assert done.exit_code == 1
    assert "damaged" in done.output or "malformed" in done.output


@pytest.mark.parametrize(
    "spoil",
    [
        lambda file: file.write_bytes(b"this is no database" * 1000),
        lambda file: execute(file, "DELETE FROM alembic_version"),
        lambda file: file.write_bytes(file.read_bytes()[:6000]),
    ],
    ids=["no database", "half migrated", "cut off"],
)
def test_a_start_with_a_damaged_store_says_to_restore_a_backup(file: Path, spoil: object) -> None:
    spoil(file)  # type: ignore[operator]
    with pytest.raises(StoreError, match=r"`yardmaster store check` .* `yardmaster store restore BACKUP`"):
        asyncio.run(opened(file))
    done = run(file, "check")
    assert done.exit_code == 1
    assert "Traceback" not in done.output


def test_a_missing_table_is_named(file: Path) -> None:
    execute(file, "DROP TABLE silences")
    assert "it is half migrated" in run(file, "check").output
    assert "no table silences" in run(file, "check").output


def test_a_backup_is_made_while_a_process_writes_and_restored_when_it_is_gone(file: Path) -> None:
    backup = file.parent / "backup.db"

    async def while_it_runs() -> None:
        store = await opened(file, alone=True)
        async with store.unit() as unit:
            await unit.rows(HandledRequest).put(HandledRequest(id="b", at=WHEN))
        assert (await asyncio.to_thread(run, file, "backup", str(backup))).exit_code == 0
        async with store.unit() as unit:
            await unit.rows(HandledRequest).put(HandledRequest(id="c", at=WHEN))
        refused = await asyncio.to_thread(run, file, "restore", str(backup))
        assert refused.exit_code == 1
        assert "is held by a Yardmaster that runs (process " in refused.output
        await store.close()

    asyncio.run(while_it_runs())
    assert (ids(file), ids(backup)) == (["a", "b", "c"], ["a", "b"])
    done = run(file, "restore", str(backup))
    assert done.exit_code == 0
    assert ids(file) == ["a", "b"]
    (kept,) = file.parent.glob("yard.db.replaced.*Z")
    assert str(kept) in done.output
    assert ids(kept) == ["a", "b", "c"]
    asyncio.run(put(file, "d"))
    assert ids(file) == ["a", "b", "d"]


def test_a_backup_never_replaces_a_file(file: Path) -> None:
    target = file.parent / "precious"
    target.write_text("precious", encoding="utf-8")
    assert "exists: name a new file" in run(file, "backup", str(target)).output
    assert target.read_text(encoding="utf-8") == "precious"


def test_what_is_not_a_backup_is_not_restored(file: Path) -> None:
    backup = file.parent / "backup.db"
    backup.write_bytes(b"this is no database" * 1000)
    done = run(file, "restore", str(backup))
    assert done.exit_code == 1
    assert "is not a backup to use: it cannot be read" in done.output
    assert ids(file) == ["a"]
    done = run(file, "restore", str(file.parent / "missing"))
    assert (done.exit_code, "No such file" in done.output) == (1, True)


def test_a_store_that_is_not_a_file_is_refused_without_its_password(tmp_path: Path) -> None:
    settings = tmp_path / "yardmaster.yaml"
    settings.write_text("store: {url: 'postgresql+asyncpg://a:hunter2@db/yard'}\n", encoding="utf-8")
    done = CliRunner().invoke(main, ["store", "check", "--config", str(settings)])
    assert done.exit_code == 1
    assert "hunter2" not in done.output
