"""A store that is full, read-only, locked, removed, half migrated, or has rows that cannot be read: rules are
evaluated, and what was accepted is kept."""

import asyncio
import sqlite3
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import aiohttp
import pytest
from click.testing import CliRunner

from alerts.alert import Alert
from alerts.silences import Silence
from alerts.store import TABLES, StoreError
from bot.cli.program import main
from bot.jobs import store_watch
from bot.settings.loading import read_settings
from bot.store import store_errors
from bot.store.backends import sqlite
from bot.wiring import build
from tests.support.light import CLUSTER, HOT, Light, light
from tests.support.store_faults import FAULTS, StoreFault, fault_of

SILENCE = "silence add alertname=GPUTemperatureHigh node=gpu-a0{number} --for 1h --reason {reason}"
LONG = "x" * 3_000  # it takes pages of its own


def heat(stage: Light, node: str) -> None:
    stage.prometheus.truth.say(HOT, ({"node": node, "gpu": "0"}, 91.0), since=stage.clock.now())


async def judged(stage: Light, times: int = 3) -> None:
    """Wait until the rules were evaluated that many times more."""
    seen = stage.prometheus.queries.count(HOT)
    await stage.until(lambda: stage.prometheus.queries.count(HOT) > seen + times)


@pytest.mark.parametrize("name", FAULTS)
async def test_a_store_that_cannot_be_written_misses_no_evaluation_and_loses_nothing_it_accepted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr(sqlite, "BUSY", timedelta(milliseconds=200))
    monkeypatch.setattr(store_errors, "LASTING", 0.1)
    monkeypatch.setattr(store_watch, "LOOK_EVERY", 0.1)
    with fault_of(name, tmp_path / "yard.db") as fault:
        async with light(tmp_path) as stage, aiohttp.ClientSession() as http:
            fault.begin()
            lines = [SILENCE.format(number=number, reason=LONG) for number in range(3, 7)]
            answers = [await stage.asks("dana", line) for line in lines]
            heat(stage, "gpu-a01")
            await judged(stage)
            async with http.get(f"{stage.yard.server.address}/healthz") as answer:
                assert answer.status == 200
            if fault.is_whole:
                await is_shown(stage, fault, http)
            await judged(stage)
            over = stage.clock.now()
            fault.end()

            await stage.card("gpu-a01 is hot")
            if fault.is_whole:
                await stage.card("everything goes on.")
            await stage.posts_are_confirmed()
            assert len([one for one in stage.cards() if "gpu-a01 is hot" in one.said]) == 1
            await stage.restart()
            async with stage.yard.store.read() as snapshot:
                silences = list(await snapshot.rows(Silence).find())
                (alert,) = await snapshot.rows(Alert).find()
            assert alert.life.since < over, "what was found meanwhile is recorded as of its own time"
            accepted = ["Silence `s" in one.said for one in answers]
            assert len(silences) == accepted.count(True)
            refused = [one.said for one, was in zip(answers, accepted, strict=True) if not was]
            assert refused
            assert all("could not store" in said for said in refused), "it says so, and that nothing was done"
            assert all("nothing was done" in said.lower() for said in refused)
            assert "Silence `s" in (await stage.asks("dana", SILENCE.format(number=7, reason="test"))).said


async def is_shown(stage: Light, fault: StoreFault, http: aiohttp.ClientSession) -> None:
    """Wait until people, probes and metrics say that nothing can be stored; what was found is not shown yet."""
    await stage.card(f"Yardmaster cannot store anything: {fault.reason}.")
    async with http.get(f"{stage.yard.server.address}/readyz") as answer:
        assert answer.status == 503
    async with http.get(f"{stage.yard.server.address}/metrics") as answer:
        waiting = f'yardmaster_unrecorded_changes{{cluster="{CLUSTER}"}}'
        assert f"{waiting} 0.0" not in await answer.text()
    assert [one for one in stage.cards() if "gpu-a01 is hot" in one.said] == []


async def test_a_half_migrated_store_is_refused_and_what_was_missed_is_evaluated_once_it_is_restored(
    tmp_path: Path,
) -> None:
    async with light(tmp_path) as stage:
        await stage.stop()
        file, backup = tmp_path / "yard.db", tmp_path / "backup.db"
        with closing(sqlite3.connect(file)) as store, closing(sqlite3.connect(backup)) as copy:
            store.backup(copy)
            with store:
                store.execute("DELETE FROM alembic_version")
        heat(stage, "gpu-a01")
        stage.clock.forward(timedelta(seconds=30))
        with pytest.raises(StoreError, match="`yardmaster store restore BACKUP`"):
            async with build(read_settings(stage.settings_file)):
                pass
        over = stage.clock.now()
        restored = await asyncio.to_thread(
            CliRunner().invoke, main, ["store", "restore", "--config", str(stage.settings_file), str(backup)]
        )
        assert restored.exit_code == 0, restored.output
        await stage.start()
        await stage.card("gpu-a01 is hot")
        async with stage.yard.store.read() as snapshot:
            (alert,) = await snapshot.rows(Alert).find()
        assert alert.life.since < over


async def test_one_row_in_each_table_that_cannot_be_read_stops_nothing_and_is_reported(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    async with light(tmp_path) as stage:
        heat(stage, "gpu-a01")
        await stage.card("gpu-a01 is hot")
        await stage.posts_are_confirmed()
        await stage.stop()
        _spoil(tmp_path / "yard.db")

        await stage.start()
        heat(stage, "gpu-b01")
        await judged(stage)
        await stage.card("gpu-b01 is hot")
        assert "gpu-a01" in (await stage.asks("dana", "node list")).said
        assert "Silence `s" in (await stage.asks("dana", SILENCE.format(number=7, reason="test"))).said
        preview = await stage.asks("dana", "node cordon gpu-a02 --reason fan")
        await stage.presses("dana", preview, "Confirm")
        await stage.card("Cordon gpu-a02: done")
    log = capfd.readouterr().out
    assert [
        name
        for name in ("alerts", "cards", "incidents", "leases")
        if f"table='{name}' id='broken'" not in log
    ] == []


def _spoil(file: Path) -> None:
    """Add a row to each table that is found as others are, and whose document is cut off."""
    with closing(sqlite3.connect(file)) as store, store:
        for name, table in TABLES.items():
            columns = ["id", "seq", *table.columns, "document"]
            found = store.execute(f"SELECT {', '.join(columns)} FROM {name}").fetchone()
            values = list(found) if found else ["", 0, *("" for _ in table.columns), '{"id"']
            document = str(values[-1])
            values[0], values[-1] = "broken", document[: len(document) // 2]
            marks = ", ".join("?" for _ in columns)
            store.execute(f"INSERT INTO {name} ({', '.join(columns)}) VALUES ({marks})", values)
