"""Migration of a store that has rows: a copy of its file first, progress in the log, and all rows or none."""

import asyncio
import os
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest
from structlog.testing import capture_logs

import bot.wiring  # noqa: F401 - imports every module that declares a table
from bot.store import migrate as migrating
from bot.store.migrate import MIGRATIONS, MigrationError
from bot.store.sql_store import SqlStore
from commands.models import HandledRequest
from tests.support.alerting import NOON

LATER = '''
"""Add who handled a request."""

from bot.store.migrations.rewriting import StoredRow, add_rows, create_table, rewrite

revision = "9001"
down_revision = {head!r}


def upgrade() -> None:
    create_table("extras", "cluster")
    rewrite("handled_requests", _changed)
    add_rows("extras", [StoredRow("x1", {{"cluster": "prod-a"}}, {{"id": "x1"}})])


def _changed(row: StoredRow) -> None:
    if row.id == "g0003":
        row.document = {{**row.document, "at": {broken}}}
    row.id = "n" + row.id[1:]
    row.document["id"] = row.id
'''
KEPT = '"2026-01-01T00:00:00Z"'


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "yard.db"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The migrations of a later release, which has one more."""
    folder = tmp_path / "later" / "migrations"
    shutil.copytree(MIGRATIONS, folder, ignore=shutil.ignore_patterns("__pycache__"))
    _write(folder, broken=KEPT)
    return folder


def _write(folder: Path, *, broken: str) -> None:
    text = LATER.format(head=_head(), broken=broken)
    (folder / "versions" / "9001_later.py").write_text(text, encoding="utf-8")


def _head() -> str:
    return max(path.name for path in (MIGRATIONS / "versions").glob("*.py"))[:4]


async def _filled(file: Path, count: int = 6) -> None:
    """Write a store of this release."""
    store = await SqlStore.open(_url(file))
    async with store.unit() as unit:
        for number in range(count):
            await unit.rows(HandledRequest).put(
                HandledRequest(id=f"g{number:04}", at=NOON + timedelta(seconds=number))
            )
    await store.close()


def _url(file: Path) -> str:
    return f"sqlite+aiosqlite:///{file}"


def _ids(file: Path) -> list[str]:
    with closing(sqlite3.connect(file)) as raw:
        return [id for (id,) in raw.execute("SELECT id FROM handled_requests ORDER BY seq")]


def _copies(file: Path) -> list[Path]:
    return [path for path in sorted(file.parent.glob("yard.db.*")) if path.name.count(".") > 1]


async def _migrated(file: Path) -> None:
    await (await SqlStore.open(_url(file))).close()


async def test_the_file_is_copied_before_it_is_migrated(
    file: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await _filled(file)
    os.chmod(file, 0o640)
    with monkeypatch.context() as patched, capture_logs() as logs:
        patched.setattr(migrating, "MIGRATIONS", folder)
        await _migrated(file)
    assert _ids(file) == [f"n{number:04}" for number in range(6)]
    (copy,) = _copies(file)
    assert copy.name.startswith(f"yard.db.{_head()}.20")
    assert [entry["copy"] for entry in logs if "copy" in entry] == [str(copy)]
    assert copy.stat().st_mode & 0o777 == 0o640
    earlier = await SqlStore.open(_url(copy))  # the earlier program, as the copied file
    async with earlier.read() as snapshot:
        assert [row.id for row in await snapshot.rows(HandledRequest).find()] == [
            f"g{number:04}" for number in range(6)
        ]
    await earlier.close()


async def test_a_current_store_and_a_new_one_are_not_copied(file: Path) -> None:
    await _filled(file)
    await _migrated(file)
    assert not _copies(file)


async def test_a_migrated_store_is_not_copied_again(
    file: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await _filled(file)
    monkeypatch.setattr(migrating, "MIGRATIONS", folder)
    await _migrated(file)
    await _migrated(file)
    assert len(_copies(file)) == 1


async def test_progress_is_logged_with_the_table_and_the_rows_done_of_all(
    file: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await _filled(file, 5_001)
    await _forgotten(file, "g0100", "g4999")  # as old rows are: their numbers are missing
    monkeypatch.setattr(migrating, "MIGRATIONS", folder)
    monkeypatch.setattr("bot.store.migrations.rewriting.LOGGED_EVERY", 2_000)
    with capture_logs() as logs:
        await _migrated(file)
    logged = [(one["table"], one["rows"], one["of"]) for one in logs if "rows" in one]
    assert logged == [
        ("handled_requests", 2_000, 4_999),
        ("handled_requests", 4_000, 4_999),
        ("handled_requests", 4_999, 4_999),
    ]
    assert [one["revision"] for one in logs if one["event"] == "store migrated"] == ["9001"]
    assert len(_ids(file)) == 4_999
    assert {id[0] for id in _ids(file)} == {"n"}


async def _forgotten(file: Path, *ids: str) -> None:
    store = await SqlStore.open(_url(file))
    async with store.unit() as unit:
        for id in ids:
            await unit.rows(HandledRequest).delete(id)
    await store.close()


async def _refused(file: Path, folder: Path, monkeypatch: pytest.MonkeyPatch, broken: str) -> str:
    with monkeypatch.context() as patched:
        patched.setattr(migrating, "MIGRATIONS", folder)
        _write(folder, broken=broken)
        with pytest.raises(MigrationError) as caught:
            await _migrated(file)
    return str(caught.value)


async def test_a_row_that_cannot_be_migrated_is_named_and_nothing_is_changed(
    file: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await _filled(file)
    error = await _refused(file, folder, monkeypatch, 'row.document["missing"]')
    (copy,) = _copies(file)
    assert error == (
        "the row g0003 of the table handled_requests cannot be migrated: KeyError: 'missing': nothing was changed, "
        f"and the earlier Yardmaster still opens the store, or the copy {copy}"
    )
    for kept in (file, copy):  # by the program of the release that wrote it
        store = await SqlStore.open(_url(kept))
        async with store.read() as snapshot:
            assert len(await snapshot.rows(HandledRequest).find()) == 6
        await store.close()
        assert _ids(kept) == [f"g{number:04}" for number in range(6)]


async def test_starts_that_fail_one_after_the_other_keep_one_copy(
    file: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await _filled(file)
    await _refused(file, folder, monkeypatch, "1 / 0")
    first = _copies(file)
    os.rename(first[0], renamed := first[0].with_name(f"yard.db.{_head()}.20250101T000000Z"))
    error = await _refused(file, folder, monkeypatch, "1 / 0")
    assert _copies(file) == [renamed]
    assert error.endswith(str(renamed))


async def test_a_row_that_takes_the_id_of_another_is_named(
    file: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await _filled(file)
    store = await SqlStore.open(_url(file))
    async with store.unit() as unit:
        await unit.rows(HandledRequest).put(HandledRequest(id="n0004", at=NOON))
    await store.close()
    error = await _refused(file, folder, monkeypatch, KEPT)
    assert "the row g0004 of the table handled_requests cannot be migrated: IntegrityError: " in error
    assert _ids(file)[:2] == ["g0000", "g0001"]


async def test_without_a_copy_nothing_is_migrated(
    file: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await _filled(file)

    class Stopped:
        def now(self) -> object:
            return NOON

        def elapsed(self) -> timedelta:
            return timedelta()

    monkeypatch.setattr(migrating, "SystemClock", Stopped)
    (file.parent / f"yard.db.{_head()}.{NOON:%Y%m%dT%H%M%SZ}.partial").mkdir()
    error = await _refused(file, folder, monkeypatch, KEPT)
    assert error.startswith(
        f"the store {file} cannot be copied before it is migrated: unable to open database"
    )
    assert error.endswith("nothing was changed")
    assert _ids(file)[:2] == ["g0000", "g0001"]


FULL = """
import asyncio, resource, signal, sys
from pathlib import Path
import bot.wiring
from bot.store import migrate
from bot.store.sql_store import SqlStore
migrate.MIGRATIONS = Path(sys.argv[2])
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (40_000, 40_000))
try:
    asyncio.run(SqlStore.open(sys.argv[1]))
except migrate.MigrationError as error:
    sys.exit(str(error))
"""


async def test_on_a_full_disk_nothing_is_migrated_and_no_part_of_a_copy_is_left(
    file: Path, folder: Path
) -> None:
    await _filled(file, 500)
    assert os.stat(file).st_size > 40_000
    _write(folder, broken=KEPT)
    ended = await asyncio.to_thread(
        subprocess.run,
        [sys.executable, "-c", FULL, _url(file), str(folder)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert ended.returncode == 1, ended.stderr
    assert "cannot be copied before it is migrated: " in ended.stderr
    assert "make room for a second file of its size beside it" in ended.stderr
    assert not _copies(file)
    assert _ids(file)[:2] == ["g0000", "g0001"]
