"""Prometheus is killed and comes back: what burns on stays, whom it blinds is said, and nothing resolves meanwhile."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from functools import partial

import pytest

from alerts.incidents.incident import Incident
from demo.parts.prometheus import PrometheusServer
from tests.recorded.table import BUSY, DOWN, EPISODES, FULL, HOLES, MINUTE
from tests.support.recorded_cluster import FaultKind
from tests.support.recorded_loop import RuleLoop, rule_loop
from tests.support.recorded_objects import objects_at
from tests.support.scrape_styles import STYLES

RULES = ("NodeCPUHighUsage", "NodeMemoryHighUtilization", "GPUTemperatureHigh", "YardmasterSourceBlind")
CYCLE = timedelta(seconds=15)
STANDING = {BUSY, FULL, DOWN}


async def open_cards(loop: RuleLoop) -> dict[str, tuple[Incident, str]]:
    """Return the open incidents with their cards, by node or component."""
    cards = await loop.shown()
    found = await loop.incidents(is_open=True)
    return {one.subject.node or one.subject.component: (one, cards[one.id]) for one in found}


@asynccontextmanager
async def killed(server: PrometheusServer) -> AsyncIterator[None]:
    """It does not run for the duration of the block."""
    await asyncio.to_thread(server.stop)
    try:
        yield
    finally:
        server.launch()
        await asyncio.to_thread(server.wait_until_ready)


@pytest.mark.parametrize("hole", HOLES)
@pytest.mark.parametrize("style", [one.name for one in STYLES])
async def test_what_burns_on_stays_open(recordings: PrometheusServer, style: str, hole: str) -> None:
    one = EPISODES[f"hole, {style}, {hole}"]
    (down,) = (fault for fault in one.cluster.faults if fault.kind is FaultKind.UNSCRAPED)
    objects = partial(objects_at, one.cluster)
    async with rule_loop(recordings.url, objects, start=one.begins, rules=RULES) as loop:
        await loop.run(down.begins - 2 * MINUTE)
        await loop.run(down.begins, every=CYCLE)
        before = await open_cards(loop)
        assert set(before) == STANDING
        async with killed(recordings):
            await loop.run(down.begins + 4 * CYCLE, every=CYCLE)
            during = await open_cards(loop)
            assert set(during) == {*STANDING, "prometheus"}
            assert all("prometheus" in during[node][1].lower() for node in STANDING), (
                "each card says what it misses"
            )
            await loop.run(down.ends, every=CYCLE)
        await loop.run(down.ends + 3 * MINUTE, every=CYCLE)
        after = await open_cards(loop)
        assert set(after) == STANDING
        assert {node: incident.id for node, (incident, _) in after.items()} == {
            node: incident.id for node, (incident, _) in before.items()
        }
        assert len(await loop.incidents()) == len(STANDING) + 1
        await loop.run(one.fixed + 5 * MINUTE)
        assert not await open_cards(loop)
