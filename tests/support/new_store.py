"""A store's file as it is after all migrations, at once: the first of a process is migrated, the others are its copies.

For tests of what a store does, not of how its file came to be: `tests/bot/store/test_migration.py` and
`test_schema.py` migrate theirs themselves.
"""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from bot.store.sql_store import SqlStore


def new_store(folder: Path) -> str:
    """Write the file of a store without rows, and return its URL."""
    file = folder / "yard.db"
    file.write_bytes(_migrated())
    return _url(file)


@cache
def _migrated() -> bytes:
    with TemporaryDirectory() as name, ThreadPoolExecutor(1) as thread:  # this one's loop runs the test
        file = Path(name) / "yard.db"
        thread.submit(lambda: asyncio.run(_migrate(file))).result()
        (only,) = file.parent.iterdir()  # nothing of it is in a write-ahead log
        return only.read_bytes()


async def _migrate(file: Path) -> None:
    await (await SqlStore.open(_url(file))).close()


def _url(file: Path) -> str:
    return f"sqlite+aiosqlite:///{file}"
