"""Alerts that cannot be stored are refused, so that their sender comes back; a damaged file is not written to."""

import asyncio
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from tests.support.alert_sender import AlertSender, firing
from tests.support.light import TOKEN, Light, light
from tests.support.store_faults import fault_of

BEARER = {"Authorization": f"Bearer {TOKEN}"}
LONG = "It takes pages of its own. " * 1_000


def alerts(*nodes: str) -> list[dict[str, Any]]:
    return [
        firing(
            {"alertname": "LinkDown", "severity": "critical", "node": node},
            summary=f"A link of {node} is down.",
            description=LONG,
        )
        for node in nodes
    ]


async def answer_to(stage: Light, http: aiohttp.ClientSession, *nodes: str) -> tuple[int, str]:
    """Post the alerts once; return the status, and when to come back."""
    address = f"{stage.yard.server.address}/api/v2/alerts"
    async with http.post(address, json=alerts(*nodes), headers=BEARER) as answer:
        return answer.status, answer.headers.get("Retry-After", "")


@pytest.mark.parametrize("name", ["full", "read-only"])
async def test_a_sender_is_refused_while_nothing_can_be_stored_and_taken_afterwards(
    tmp_path: Path, name: str
) -> None:
    nodes = ("gpu-a01", "gpu-a02", "gpu-b01")
    with fault_of(name, tmp_path / "yard.db") as fault:
        async with light(tmp_path) as stage, aiohttp.ClientSession() as http:
            fault.begin()
            for _ in range(3):  # as a sender does
                status, again = await answer_to(stage, http, *nodes)
                assert (status, bool(again)) == (503, True)
            fault.end()
            sender = AlertSender(session=http, url=stage.yard.server.address, headers=BEARER)
            await sender.post_until_taken(alerts(*nodes))
            for node in nodes:
                await stage.card(f"A link of {node} is down")
            await stage.posts_are_confirmed()
            assert len(stage.cards()) == len(nodes)


async def test_a_damaged_page_is_refused_loudly_and_a_backup_heals_it(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    file, backup = tmp_path / "yard.db", tmp_path / "backup.db"
    async with light(tmp_path) as stage, aiohttp.ClientSession() as http:
        assert await answer_to(stage, http, "gpu-a01") == (200, "")
        await stage.card("A link of gpu-a01 is down")
        await stage.posts_are_confirmed()
        await stage.stop()
        await asyncio.to_thread(_checkpointed, file)
        shutil.copy(file, backup)

        damaged = await asyncio.to_thread(_damage, file, "alerts")
        await stage.begin()
        await stage.until(lambda: stage.yard.server.address)
        assert (await answer_to(stage, http, "gpu-a02"))[0] == 503
        await stage.stop()
        assert "malformed" in capfd.readouterr().out
        assert file.read_bytes()[: len(damaged)] == damaged, "nothing was written to it"

        shutil.copy(backup, file)
        await stage.start()
        assert await answer_to(stage, http, "gpu-a02") == (200, "")
        await stage.card("A link of gpu-a02 is down")
        assert len(stage.cards()) == 2


def _checkpointed(file: Path) -> None:
    with closing(sqlite3.connect(file)) as store:
        store.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def _damage(file: Path, table: str) -> bytes:
    """Overwrite the first page of a table, and return the file as it is then."""
    with closing(sqlite3.connect(file)) as store:
        (size,) = store.execute("PRAGMA page_size").fetchone()
        (page,) = store.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", (table,)).fetchone()
    content = bytearray(file.read_bytes())
    content[(page - 1) * size : page * size] = b"\xa5" * size
    file.write_bytes(content)
    return bytes(content)
