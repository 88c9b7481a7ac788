"""A rack of 32 nodes and 256 GPUs loses its power: half of the alerts are ours, half are sent by another program."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from datetime import datetime, timedelta

import pytest

from alerts.parents.parent_incident import ParentIncident
from bot.receiving.posted_alerts import ReadingOptions, posted_alerts
from bot.receiving.receiver import Inlet, Receiver
from tests.support.alerting import CLUSTER
from tests.support.storm_stage import EVERY, StormStage, a_site, racks

pytestmark = pytest.mark.looptime

NODES = racks(1, 32)
OURS, THEIRS = list(NODES)[::2], list(NODES)[1::2]
WITHIN = 30.0  # seconds
LASTS = timedelta(minutes=5)


def posted(nodes: Iterable[str], since: datetime, ends: datetime) -> bytes:
    """Return the body that a Prometheus, or a program that speaks its language, posts to `/api/v2/alerts`."""
    alerts = [
        {
            "labels": {"alertname": "RackPowerLost", "severity": "critical", "node": node},
            "annotations": {"summary": f"The power supplies of {node} have no input."},
            "startsAt": since.isoformat(),
            "endsAt": ends.isoformat(),
        }
        for node in nodes
    ]
    return json.dumps(alerts).encode()


@asynccontextmanager
async def receiving(stage: StormStage) -> AsyncIterator[Receiver]:
    inlet = Inlet(recorder=stage.recorder, topology=lambda: stage.topology, rules=lambda: stage.rules)
    receiver = Receiver({CLUSTER: inlet}, stage.store, stage.clock, lasts=LASTS)
    async with asyncio.TaskGroup() as tasks:
        task = tasks.create_task(receiver.run())
        yield receiver
        task.cancel()


async def take(receiver: Receiver, body: bytes, now: datetime) -> None:
    found = await posted_alerts(body, ReadingOptions(lasts=LASTS), now)
    assert not found.refused
    await receiver.take(found.alerts)


@pytest.mark.parametrize("first", ["ours", "theirs"])
async def test_it_is_one_card_within_30_seconds_and_ends_as_one(first: str) -> None:
    trainings = {f"vision/job-{number}": list(NODES)[number * 8 : number * 8 + 8] for number in range(4)}
    stage = StormStage(topology=a_site(NODES, trainings=trainings))
    began = stage.clock.now()
    async with stage.delivering(), receiving(stage) as receiver:
        if first == "ours":
            alerts = await stage.fire(OURS, ["NodeNotReady"])
        await take(receiver, posted(THEIRS, began, began + LASTS), stage.clock.now())
        if first == "theirs":
            await asyncio.sleep(EVERY.total_seconds())
            alerts = await stage.fire(OURS, ["NodeNotReady"])
        await asyncio.sleep(WITHIN - EVERY.total_seconds())
        (card,) = stage.slack.cards
        assert (
            card.text == "CRITICAL: 32 nodes of rack r1 have alerts: NodeNotReady on 16, RackPowerLost on 16"
        )
        assert "64 GPUs" in stage.slack.seen()  # of each of the four trainings
        assert "256 GPUs of these nodes: 256 GPU-hours are lost each hour" in stage.slack.seen()
        assert all(node in stage.slack.seen() for node in NODES)

        now = stage.clock.now()
        await take(receiver, posted(THEIRS, began, now), now)
        await asyncio.sleep(WITHIN)
        (card,) = stage.slack.cards
        assert card.text.startswith("CRITICAL: 16 of 32 nodes of rack r1 still have alerts")
        await stage.end(alerts)
        await asyncio.sleep(WITHIN)
    (card,) = stage.slack.cards
    assert card.text == "Resolved: 32 nodes of rack r1 had alerts"
    async with stage.store.read() as snapshot:
        (parent,) = await snapshot.rows(ParentIncident).find()
    assert (parent.standing.incidents, parent.is_open) == (32, False)
    assert not await stage.incidents(state="open")
