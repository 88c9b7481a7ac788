"""Costs of parents: a quiet cycle makes as many statements as without one, and a storm is one transaction."""

import asyncio
from collections import Counter
from pathlib import Path

import pytest

from bot.store.sql_store import SqlStore
from collectors.facts.clock import SystemClock
from tests.support.store_counts import counted
from tests.support.storm_stage import StormStage, a_site, racks

NODES = racks(5, 20)
NEVER = 10_000


async def _cycles(folder: Path, storm_from: int) -> list[Counter[str]]:
    """Return the counts of the storm's cycle and of two quiet ones after it."""
    store = await SqlStore.open(f"sqlite+aiosqlite:///{folder / f'{storm_from}.db'}")
    stage = StormStage(topology=a_site(NODES), storm_from=storm_from, clock=SystemClock(), store=store)
    found: list[Counter[str]] = []
    try:
        with counted() as counts:
            await stage.fire(NODES)
        found.append(counts)
        for _ in range(2):
            with counted() as counts:
                await stage.cycle()
            found.append(counts)
    finally:
        await store.close()
    return found


async def test_a_quiet_cycle_makes_no_more_statements_than_without_a_parent(tmp_path: Path) -> None:
    storm, *quiet = await _cycles(tmp_path, 8)
    as_before, *quiet_before = await _cycles(tmp_path, NEVER)
    assert quiet == quiet_before
    assert storm["commits"] == as_before["commits"]
    assert storm["statements"] <= as_before["statements"] + 6


@pytest.mark.looptime
async def test_members_that_change_are_read_once_for_their_card() -> None:
    """A change of all members makes one look at the parent's card stale, not one for each."""
    stage = StormStage(topology=a_site(NODES))
    alerts = await stage.fire(NODES)
    async with stage.delivering():
        await asyncio.sleep(30)
        edits = stage.slack.lookalike.workspace.ledger.count("chat.update", "ok")
        await stage.end(alerts[::2])
        await asyncio.sleep(90)
        assert stage.slack.lookalike.workspace.ledger.count("chat.update", "ok") - edits <= 2
