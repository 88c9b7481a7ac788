"""Outages of Slack and of Yardmaster: no notification is lost, and none is posted twice."""

import signal
from collections.abc import Awaitable, Callable
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from alerts.incidents.incident import Incident
from bot.delivery import reconciler
from bot.delivery.retry import RetryPolicy
from demo.lookalikes.slack.state.messages import Message
from tests.support.light import CHANNEL, HOT, Light, light
from tests.support.process import Process

HOT_NODES = ("gpu-a01", "gpu-a02", "gpu-b01")


def heat(stage: Light, *nodes: str) -> None:
    series = [({"node": node, "gpu": "0"}, 91.0) for node in nodes]
    stage.prometheus.truth.say(HOT, *series, since=stage.clock.now())


async def open_incidents(stage: Light, count: int) -> None:
    async def has_count(unit: Any) -> bool:
        return len(await unit.rows(Incident).find(state="open")) == count

    await stage.until_kept(has_count)


def cards_of(stage: Light, node: str) -> list[Message]:
    """Return every message ever posted about this node's incident, except replies, including deleted ones."""
    return [
        one
        for one in stage.slack.everything(CHANNEL)
        if one.by_bot
        and not one.is_reply
        and any(f"{node} is hot" in str(moment.body) for moment in one.history)
    ]


def lines(stage: Light, card: Message, words: str) -> list[Message]:
    return [one for one in stage.slack.thread(card) if words in one.said]


async def refused(stage: Light) -> Callable[[], Awaitable[None]]:
    stage.slack.down("refused")

    async def back() -> None:
        stage.slack.up()

    return back


async def unavailable(stage: Light) -> Callable[[], Awaitable[None]]:
    stage.slack.down("503")

    async def back() -> None:
        stage.slack.up()

    return back


async def rate_limited(stage: Light) -> Callable[[], Awaitable[None]]:
    for method in ("chat.postMessage", "chat.update", "conversations.history", "conversations.replies"):
        stage.slack.fail(method, "ratelimited", times=1000, retry_after=1)

    async def back() -> None:
        stage.slack.forgive()

    return back


async def broken(stage: Light) -> Callable[[], Awaitable[None]]:
    for method in ("chat.postMessage", "chat.update"):
        stage.slack.fail(method, 500, times=1000)

    async def back() -> None:
        stage.slack.forgive()

    return back


@pytest.mark.parametrize(
    "away",
    [refused, unavailable, rate_limited, broken],
    ids=["no connection", "503", "rate limits", "500 to every message"],
)
async def test_after_an_outage_of_slack_every_card_is_posted_once(
    tmp_path: Path, away: Callable[[Light], Awaitable[Callable[[], Awaitable[None]]]]
) -> None:
    async with light(tmp_path) as stage:
        heat(stage, "gpu-a01")
        first = await stage.card("gpu-a01 is hot")
        back = await away(stage)
        heat(stage, "gpu-a02", "gpu-b01")  # one resolves, two start
        await open_incidents(stage, 2)
        heat(stage, "gpu-b01")  # and one of them resolves before it was posted
        await open_incidents(stage, 1)
        assert "✅" not in first.said
        await back()
        await stage.slack.until(lambda: "✅" in first.said, 60)
        await stage.slack.until(lambda: cards_of(stage, "gpu-a02") and cards_of(stage, "gpu-b01"), 60)
        await stage.slack.until(lambda: "✅" in cards_of(stage, "gpu-a02")[0].said, 60)
        await stage.slack.until(lambda: lines(stage, first, "Resolved"), 60)
        await stage.next_rounds()
        for node in HOT_NODES:
            assert len(cards_of(stage, node)) == 1
        assert len(lines(stage, first, "Resolved")) == 1
        assert "🔴" in cards_of(stage, "gpu-b01")[0].said
        await stage.slack.connected(60)
        answer = await stage.asks("dana", "help")  # it receives commands again
        assert "Available commands" in answer.said


async def test_a_closed_socket_is_reopened_and_missed_lines_are_delivered(
    tmp_path: Path,
) -> None:
    async with light(tmp_path) as stage:
        assert stage.slack.drop_socket() == 1
        await stage.slack.types("dana", CHANNEL, "@yardmaster node cordon gpu-a01")
        await stage.slack.connected(60)
        stage.slack.redeliver(stage.slack.envelopes[-1])  # Slack retries after a minute
        answer = await stage.slack.until(lambda: stage.slack.ephemerals("dana"), 60)
        assert "Cordon gpu-a01?" in answer[0].said
        assert len(await stage.plans()) == 1


async def test_a_lost_response_does_not_cause_a_second_card(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The lost call has ended, so nothing is posted later. In production another process may have made it.
    monkeypatch.setattr(reconciler, "RetryPolicy", partial(RetryPolicy, outcome_timeout=timedelta(seconds=3)))
    async with light(tmp_path) as stage:
        stage.slack.lose_reply("chat.postMessage")
        heat(stage, "gpu-a01")
        card = await stage.card("gpu-a01 is hot")
        heat(stage)
        await stage.slack.until(lambda: "✅" in card.said, 60)  # adopted, and edited since then
        assert len(cards_of(stage, "gpu-a01")) == 1


async def test_after_a_restart_during_an_incident_its_card_is_edited_and_not_posted_again(
    tmp_path: Path,
) -> None:
    async with light(tmp_path) as stage:
        heat(stage, "gpu-a01")
        card = await stage.card("gpu-a01 is hot")
        await stage.posts_are_confirmed()
        await stage.stop()
        await stage.start()
        await stage.next_rounds()
        assert len(cards_of(stage, "gpu-a01")) == 1
        answer = await stage.presses("dana", card, "…", "Why?")
        assert "GPUTemperatureHigh" in answer.said
        await stage.restart()
        heat(stage)
        await stage.slack.until(lambda: "✅" in card.said, 60)
        await stage.slack.until(lambda: lines(stage, card, "Resolved"), 60)
        assert len(cards_of(stage, "gpu-a01")) == 1
        assert len(lines(stage, card, "Resolved")) == 1


async def test_an_alert_that_ended_during_downtime_resolves_after_the_start(tmp_path: Path) -> None:
    async with light(tmp_path) as stage:
        heat(stage, "gpu-a01")
        card = await stage.card("gpu-a01 is hot")
        await stage.posts_are_confirmed()
        await stage.stop()
        heat(stage, "gpu-a02")
        await stage.start()
        await stage.slack.until(lambda: "✅" in card.said, 60)
        await stage.card("gpu-a02 is hot")
        assert len(cards_of(stage, "gpu-a01")) == 1


@pytest.mark.parametrize("away", [refused, unavailable], ids=["no connection", "503"])
async def test_started_during_an_outage_of_slack_it_evaluates_and_posts_once_afterwards(
    tmp_path: Path, away: Callable[[Light], Awaitable[Callable[[], Awaitable[None]]]]
) -> None:
    async with light(tmp_path, start=False) as stage:
        back = await away(stage)
        await stage.begin()
        heat(stage, "gpu-a01")
        await open_incidents(stage, 1)
        async with (
            aiohttp.ClientSession() as http,
            http.get(f"{stage.yard.server.address}/readyz") as answer,
        ):
            assert answer.status == 200
        assert cards_of(stage, "gpu-a01") == []
        await back()
        card = await stage.card("gpu-a01 is hot")
        await stage.slack.connected(60)
        proposed = await stage.asks("dana", "node cordon gpu-a01")
        assert "Cordon gpu-a01?" in proposed.said
        await stage.slack.types("eve", CHANNEL, "/yard help")  # from another workspace, which is known by now
        heat(stage)
        await stage.slack.until(lambda: "✅" in card.said, 60)
        assert len(cards_of(stage, "gpu-a01")) == 1
        assert all("members of this workspace only" in one.said for one in stage.slack.ephemerals("eve"))


async def test_a_message_posted_right_before_a_kill_is_adopted_after_the_restart(tmp_path: Path) -> None:
    async with light(tmp_path, start=False) as stage:
        stage.slack.lose_reply("chat.postMessage", hold=True)  # posted, but the reply never arrives
        first = await Process.begin(stage)
        try:
            heat(stage, "gpu-a01")
            card = await stage.card("gpu-a01 is hot")
        finally:
            await first.end(signal.SIGKILL)
        second = await Process.begin(stage)
        try:
            heat(stage)
            await stage.slack.until(lambda: "✅" in card.said, 90)
            await stage.slack.until(lambda: lines(stage, card, "Resolved"), 60)
        finally:
            code = await second.end(signal.SIGTERM)
        assert len(cards_of(stage, "gpu-a01")) == 1
        assert len(lines(stage, card, "Resolved")) == 1
        assert code == 0
