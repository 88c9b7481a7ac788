"""A reply that was broadcast suggests what its card suggests: what is done or over leaves it, and its words stay."""

import asyncio

import pytest

from alerts.alert import Alert
from alerts.incidents.grouping import acknowledge
from alerts.incidents.incident import Incident
from demo.card_record import shown_as
from demo.lookalikes.slack import Message as SlackMessage
from tests.support.alerting import CLUSTER
from tests.support.storm_stage import StormStage, a_site, racks

pytestmark = pytest.mark.looptime

NODES = racks(1, 20)
NODE = next(iter(NODES))
SOON = 20.0  # seconds


def replies(stage: StormStage) -> list[SlackMessage]:
    return [one for one in stage.slack.lookalike.everything(stage.slack.channel) if one.is_reply]


def offered(stage: StormStage) -> list[set[str]]:
    """The first two words of what each version of the broadcast suggested."""
    (reply,) = (one for one in replies(stage) if "raised" in one.said)
    versions = shown_as(stage.slack.channel, reply, {}).versions
    return [{" ".join(line.split()[:2]) for line in one.offers} for one in versions]


async def raised(stage: StormStage) -> list[Alert]:
    milder = await stage.fire([NODE], ["KubeletDown"], severity="warning")
    await asyncio.sleep(SOON)
    graver = await stage.fire([NODE], ["NodeNotReady"])
    await asyncio.sleep(SOON)
    return [*milder, *graver]


async def acknowledged(stage: StormStage) -> None:
    async with stage.store.unit() as unit:
        (incident,) = await unit.rows(Incident).find()
        at = stage.clock.now()
        await unit.rows(Incident).put(acknowledge(incident, who="U1", who_name="dana", now=at))
    await asyncio.sleep(SOON)


async def test_a_broadcast_no_longer_offers_what_its_card_does_not_offer() -> None:
    stage = StormStage(topology=a_site(NODES))
    async with stage.delivering():
        await raised(stage)
        (said,) = (one.said for one in replies(stage))
        await acknowledged(stage)
    first, then = offered(stage)
    assert "alert ack" in first
    assert then == first - {"alert ack"}
    assert said.endswith("\n[Acknowledge]")
    assert [one.said for one in replies(stage)] == [said.removesuffix("\n[Acknowledge]")]


async def test_with_several_clusters_each_line_names_its_own_and_stays_offered() -> None:
    stage = StormStage(topology=a_site(NODES), many_clusters=True)
    async with stage.delivering():
        await raised(stage)
    (reply,) = (one for one in replies(stage) if "raised" in one.said)
    (shown,) = shown_as(stage.slack.channel, reply, {}).versions
    assert [line.endswith(f" --cluster {CLUSTER}") for line in shown.offers] == [True]


async def test_one_offers_nothing_once_its_incident_is_over() -> None:
    stage = StormStage(topology=a_site(NODES))
    async with stage.delivering():
        await stage.end(await raised(stage))
        await asyncio.sleep(SOON)
    assert offered(stage)[-1] == set()


async def test_what_was_done_while_nobody_delivered_leaves_it_after_a_restart() -> None:
    stage = StormStage(topology=a_site(NODES))
    async with stage.delivering():
        await raised(stage)
    await acknowledged(stage)
    async with stage.delivering():
        await asyncio.sleep(SOON)
    assert ["alert ack" in one for one in offered(stage)] == [True, False]
