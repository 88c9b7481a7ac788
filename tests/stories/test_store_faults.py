"""A store that is full, read-only, or has rows that cannot be read: rules are judged, and what was accepted is kept."""

import asyncio
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import aiohttp
import pytest
from sqlalchemy import Connection, Engine, event

from alerts.alert import Alert
from alerts.silences import Silence
from alerts.store import TABLES
from tests.support.light import HOT, Light, light

SILENCE = "silence add alertname=GPUTemperatureHigh node=gpu-a0{number} --for 1h --reason {reason}"
LONG = "x" * 3_000  # it takes pages of its own
FAULTS = {  # what each connection sets, and what ends it
    "full": ("PRAGMA max_page_count = 1", "PRAGMA max_page_count = 1073741823"),  # as many pages as it has
    "read-only": ("PRAGMA query_only = 1", "PRAGMA query_only = 0"),
}


class Fault:
    """SQLite's own fault: each transaction that begins has it until it is over."""

    def __init__(self, name: str) -> None:
        self._begins, self._ends = FAULTS[name]
        self.is_there = False

    def apply(self, connection: Connection) -> None:
        connection.exec_driver_sql(self._begins if self.is_there else self._ends)


@contextmanager
def fault_of(name: str) -> Iterator[Fault]:
    fault = Fault(name)
    event.listen(Engine, "begin", fault.apply)
    try:
        yield fault
    finally:
        event.remove(Engine, "begin", fault.apply)


def heat(stage: Light, node: str) -> None:
    stage.prometheus.truth.say(HOT, ({"node": node, "gpu": "0"}, 91.0), since=stage.clock.now())


async def judged(stage: Light, times: int = 3) -> None:
    """Wait until the rules were evaluated that many times more."""
    seen = stage.prometheus.queries.count(HOT)
    await stage.until(lambda: stage.prometheus.queries.count(HOT) > seen + times)


@pytest.mark.parametrize("name", FAULTS)
async def test_a_store_that_cannot_be_written_misses_no_evaluation_and_loses_nothing_it_accepted(
    tmp_path: Path, name: str
) -> None:
    with fault_of(name) as fault:
        async with light(tmp_path) as stage, aiohttp.ClientSession() as http:
            fault.is_there = True
            lines = [SILENCE.format(number=number, reason=LONG) for number in range(3, 7)]
            answers = [await stage.asks("dana", line) for line in lines]
            heat(stage, "gpu-a01")
            await asyncio.sleep(2)  # a few rounds
            async with http.get(f"{stage.yard.server.address}/healthz") as answer:
                assert answer.status == 200
            over = stage.clock.now()
            fault.is_there = False

            await stage.card("gpu-a01 is hot")
            await stage.posts_are_confirmed()
            assert len([one for one in stage.cards() if "gpu-a01 is hot" in one.said]) == 1
            await stage.restart()
            async with stage.yard.store.read() as snapshot:
                silences = list(await snapshot.rows(Silence).find())
                (alert,) = await snapshot.rows(Alert).find()
            assert alert.life.since < over, "the rounds that could not be stored are made up for"
            accepted = ["Silence `s" in one.said for one in answers]
            assert len(silences) == accepted.count(True)
            assert not all(accepted)
            assert "Silence `s" in (await stage.asks("dana", SILENCE.format(number=7, reason="test"))).said


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
