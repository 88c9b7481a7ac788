"""This file kills a process in the middle of its transactions and looks at what is left."""

import asyncio
import contextlib
import sys
from pathlib import Path

from bot.store.sql_store import SqlStore

WRITER = """
import asyncio, sys
from datetime import UTC, datetime
from bot.store.sql_store import SqlStore
from commands.models import HandledRequest

async def main():
    store = await SqlStore.open(sys.argv[1])
    for number in range(100_000):
        async with store.unit() as unit:
            for part in ("a", "b"):
                row = HandledRequest(id=f"{number}{part}", at=datetime(2026, 1, 1, tzinfo=UTC))
                await unit.handled_requests.put(row)
                await unit.handled_requests.find(limit=1)
        print(number, flush=True)

asyncio.run(main())
"""


async def test_what_was_committed_survives_a_kill_and_halves_do_not(tmp_path: Path) -> None:
    url = f"sqlite+aiosqlite:///{tmp_path / 'yard.db'}"
    for kill_after in (1, 7):
        writer = await asyncio.create_subprocess_exec(
            sys.executable, "-c", WRITER, url, stdout=asyncio.subprocess.PIPE
        )
        assert writer.stdout is not None
        told = -1
        try:
            async with asyncio.timeout(60):
                while told < kill_after:
                    told = int(await writer.stdout.readline())
        finally:
            with contextlib.suppress(ProcessLookupError):
                writer.kill()
        rest = (await writer.stdout.read()).split()
        await writer.wait()
        told = max([told, *(int(number) for number in rest)])
        store = await SqlStore.open(url)
        async with store.unit() as unit:
            kept = [gesture.id for gesture in await unit.handled_requests.find(limit=1_000_000)]
            for id in kept:
                await unit.handled_requests.delete(id)
        await store.close()
        pairs = len(kept) // 2
        assert kept == [f"{number}{part}" for number in range(pairs) for part in "ab"]
        assert pairs >= told + 1
