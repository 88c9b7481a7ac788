"""The instruments of the benchmarks with alerts: what is visible in Slack, what stands twice, how alerts are posted."""

from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import pytest
from aiohttp import web

from benchmarks.alert_storm import BATCH, NAMES, nodes, scattered, storm
from demo.lookalikes.slack import SlackLookalike
from demo.lookalikes.slack.lookalike import Members
from demo.lookalikes.slack.state.messages import Message
from tests.support.alert_sender import PATH, AlertSender, firing, over
from tests.support.slack_record import SlackRecord

CHANNEL = "#alerts"


@pytest.fixture
async def slack() -> AsyncIterator[SlackLookalike]:
    async with SlackLookalike.running(Members(people=("dana",), channels=(CHANNEL,))) as running:
        yield running


@pytest.fixture
def record(slack: SlackLookalike) -> SlackRecord:
    return SlackRecord(slack=slack, channel=CHANNEL, names={"Down", "Hot"}, subjects={"gpu-1", "gpu-2"})


def post(slack: SlackLookalike, text: str, **more: Any) -> Message:
    workspace = slack.workspace
    channel = workspace.directory.channel(CHANNEL)
    return workspace.post(channel, workspace.bot, {"text": text, **more})


async def test_an_alert_is_visible_where_its_name_and_subject_stand_in_one_line(
    slack: SlackLookalike, record: SlackRecord
) -> None:
    post(slack, "Down: gpu-1\nHot: gpu-2")
    assert record.visible() == {("Down", "gpu-1"), ("Hot", "gpu-2")}


async def test_in_what_names_one_subject_every_name_is_about_it(
    slack: SlackLookalike, record: SlackRecord
) -> None:
    message = post(slack, "Alerts of gpu-1")
    post(slack, "Down\nand Hot", thread_ts=message.ts)
    assert record.visible() == {("Down", "gpu-1"), ("Hot", "gpu-1")}


async def test_names_and_subjects_that_are_only_counted_are_not_visible(
    slack: SlackLookalike, record: SlackRecord
) -> None:
    post(slack, "Down on 2 nodes\nNodes: gpu-1, gpu-2")
    assert record.visible() == set()


async def test_an_attachment_counts_and_what_was_edited_away_counts_until_then(
    slack: SlackLookalike, record: SlackRecord
) -> None:
    message = post(slack, "", attachments=[{"text": "Down gpu-1"}])
    before = slack.workspace.clock.now()
    slack.workspace.edit(
        message, {"text": "", "attachments": [{"text": "Hot gpu-2"}]}, by=slack.workspace.bot
    )
    assert record.visible(before) == {("Down", "gpu-1")}
    assert record.visible(slack.workspace.clock.now()) == {("Hot", "gpu-2")}
    assert record.visible() == {("Down", "gpu-1"), ("Hot", "gpu-2")}


async def test_two_messages_about_one_subject_and_equal_replies_stand_twice(
    slack: SlackLookalike, record: SlackRecord
) -> None:
    first = post(slack, "gpu-1 is down")
    post(slack, "both gpu-1 and gpu-2")
    post(slack, "Resolved.", thread_ts=first.ts)
    assert record.repeated() == []
    second = post(slack, "gpu-1 is down")
    post(slack, "Resolved.", thread_ts=first.ts)
    assert len(record.repeated()) == 2
    slack.workspace.delete(second)
    assert len(record.repeated()) == 1


async def test_a_sender_posts_until_it_is_answered_with_200() -> None:
    statuses = [503, 429, 200]
    bodies: list[Any] = []

    async def answer(request: web.Request) -> web.Response:
        bodies.append(await request.json())
        return web.Response(status=statuses[len(bodies) - 1])

    app = web.Application()
    app.router.add_post(PATH, answer)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        async with aiohttp.ClientSession() as session:
            sender = AlertSender(session=session, url=f"http://127.0.0.1:{runner.addresses[0][1]}")
            alert = firing({"alertname": "Down", "node": "gpu-1"})
            await sender.post_until_taken([alert])
    finally:
        await runner.cleanup()
    assert bodies == [[alert]] * 3


def test_a_storm_has_each_alert_on_each_node_in_the_order_of_the_rules() -> None:
    alerts = [one["labels"] for one in storm()]
    assert len(alerts) == 1_984
    assert {(one["alertname"], one["node"]) for one in alerts} == {(a, b) for a in NAMES for b in nodes()}
    assert len({one["alertname"] for one in alerts[:BATCH]}) == 1


def test_an_end_is_not_later_than_now() -> None:
    (alert,) = scattered(1)
    assert over(alert)["endsAt"] < alert["endsAt"]
