"""A process that is killed in the middle of its transactions leaves only whole ones."""

import asyncio
import contextlib
import sys
from pathlib import Path

from bot.store.sql_store import SqlStore
from commands.models import HandledRequest

WRITER = """
import asyncio, sys
from datetime import UTC, datetime
import structlog
from bot.store.sql_store import SqlStore
from commands.models import HandledRequest

structlog.configure(logger_factory=structlog.PrintLoggerFactory(sys.stderr))  # stdout has the numbers

async def main():
    store = await SqlStore.open(sys.argv[1])
    for number in range(100_000):
        async with store.unit() as unit:
            for part in ("a", "b"):
                row = HandledRequest(id=f"{number}{part}", at=datetime(2026, 1, 1, tzinfo=UTC))
                await unit.rows(HandledRequest).put(row)
                await unit.rows(HandledRequest).find(limit=1)
        print(number, flush=True)

asyncio.run(main())
"""


async def test_committed_units_survive_a_kill_and_partial_ones_do_not(tmp_path: Path) -> None:
    url = f"sqlite+aiosqlite:///{tmp_path / 'yard.db'}"
    for kill_after in (1, 7):
        writer = await asyncio.create_subprocess_exec(
            sys.executable, "-c", WRITER, url, stdout=asyncio.subprocess.PIPE
        )
        assert writer.stdout is not None
        committed = -1
        try:
            async with asyncio.timeout(60):
                while committed < kill_after:
                    committed = int(await writer.stdout.readline())
        finally:
            with contextlib.suppress(ProcessLookupError):
                writer.kill()
        rest = (await writer.stdout.read()).split()
        await writer.wait()
        committed = max([committed, *(int(number) for number in rest)])
        store = await SqlStore.open(url)
        async with store.unit() as unit:
            stored = [row.id for row in await unit.rows(HandledRequest).find()]
            for id in stored:
                await unit.rows(HandledRequest).delete(id)
        await store.close()
        pairs = len(stored) // 2
        assert stored == [f"{number}{part}" for number in range(pairs) for part in "ab"]
        assert pairs >= committed + 1
