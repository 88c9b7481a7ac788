"""This file tells what happens when Slack goes away, or we do: nothing is lost, and nothing is said twice."""

import asyncio
import os
import signal
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from demo.lookalikes.slack.state.messages import Message
from tests.support.light import CHANNEL, HOT, Light, light

HOT_NODES = ("gpu-a01", "gpu-a02", "gpu-b01")


def heat(stage: Light, *nodes: str) -> None:
    series = [({"node": node, "gpu": "0"}, 91.0) for node in nodes]
    stage.prometheus.truth.say(HOT, *series, since=stage.clock.now())


async def open_incidents(stage: Light, count: int) -> None:
    async def look(unit: Any) -> bool:
        return len(await unit.incidents.find(state="open")) == count

    await stage.until_kept(lambda unit: look(unit))


def told(stage: Light, node: str) -> list[Message]:
    """Every message ever posted that names this node's incident, replies left out, deleted ones too."""
    return [
        one
        for one in stage.slack.everything(CHANNEL)
        if one.by_bot
        and not one.is_reply
        and any(f"{node} is hot" in str(moment.body) for moment in one.history)
    ]


def lines(stage: Light, card: Message, words: str) -> list[Message]:
    return [one for one in stage.slack.thread(card) if words in one.said]


async def journalled(stage: Light) -> None:
    """Wait until every card that was posted is known to be: what is in doubt costs the next life 20 seconds."""

    async def look(unit: Any) -> bool:
        cards = await unit.cards.find(limit=100)
        return bool(cards) and all(card.message_id for card in cards)

    await stage.until_kept(look)


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


async def storm(stage: Light) -> Callable[[], Awaitable[None]]:
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
    [refused, unavailable, storm, broken],
    ids=["no connection", "503", "a storm of 429", "500 to every message"],
)
async def test_while_slack_is_away_nothing_is_lost_and_nothing_is_told_twice_after_it(
    tmp_path: Path, away: Callable[[Light], Awaitable[Callable[[], Awaitable[None]]]]
) -> None:
    async with light(tmp_path) as stage:
        heat(stage, "gpu-a01")
        first = await stage.card("gpu-a01 is hot")
        back = await away(stage)
        heat(stage, "gpu-a02", "gpu-b01")  # one ends, two begin
        await open_incidents(stage, 2)
        heat(stage, "gpu-b01")  # and one that began is over before anybody was told
        await open_incidents(stage, 1)
        assert "✅" not in first.said
        await back()
        await stage.slack.until(lambda: "✅" in first.said, 60)
        await stage.slack.until(lambda: told(stage, "gpu-a02") and told(stage, "gpu-b01"), 60)
        await stage.slack.until(lambda: "✅" in told(stage, "gpu-a02")[0].said, 60)
        await stage.slack.until(lambda: lines(stage, first, "Resolved"), 60)
        await stage.next_rounds()
        for node in HOT_NODES:
            assert len(told(stage, node)) == 1
        assert len(lines(stage, first, "Resolved")) == 1
        assert "🔴" in told(stage, "gpu-b01")[0].said
        answer = await stage.asks("dana", "help")  # and it hears again
        assert "What I can do" in answer.said


async def test_a_socket_that_is_cut_is_opened_again_and_what_was_typed_meanwhile_is_delivered(
    tmp_path: Path,
) -> None:
    async with light(tmp_path) as stage:
        assert stage.slack.drop_socket() == 1
        await stage.slack.types("dana", CHANNEL, "@yardmaster node cordon gpu-a01")
        await stage.slack.connected(60)
        stage.slack.redeliver(stage.slack.envelopes[-1])  # Slack tries again after a minute
        answer = await stage.slack.until(lambda: stage.slack.ephemerals("dana"), 60)
        assert "Cordon gpu-a01?" in answer[0].said
        assert len(await stage.plans()) == 1


async def test_a_reply_that_is_lost_does_not_make_a_second_card(tmp_path: Path) -> None:
    async with light(tmp_path) as stage:
        stage.slack.lose_reply("chat.postMessage")
        heat(stage, "gpu-a01")
        card = await stage.card("gpu-a01 is hot")
        heat(stage)
        await stage.slack.until(lambda: "✅" in card.said, 60)  # adopted, and edited since
        assert len(told(stage, "gpu-a01")) == 1


async def test_a_restart_in_the_middle_of_an_incident_makes_no_second_card_and_edits_go_on(
    tmp_path: Path,
) -> None:
    async with light(tmp_path) as stage:
        heat(stage, "gpu-a01")
        card = await stage.card("gpu-a01 is hot")
        await journalled(stage)
        await stage.stop()
        await stage.start()
        await stage.next_rounds()
        assert len(told(stage, "gpu-a01")) == 1
        answer = await stage.presses("dana", card, "Why?")
        assert "GPUTemperatureHigh" in answer.said
        await stage.restart()
        heat(stage)
        await stage.slack.until(lambda: "✅" in card.said, 60)
        await stage.slack.until(lambda: lines(stage, card, "Resolved"), 60)
        assert len(told(stage, "gpu-a01")) == 1
        assert len(lines(stage, card, "Resolved")) == 1


async def test_what_ended_while_we_were_away_is_resolved_by_the_next_life(tmp_path: Path) -> None:
    async with light(tmp_path) as stage:
        heat(stage, "gpu-a01")
        card = await stage.card("gpu-a01 is hot")
        await journalled(stage)
        await stage.stop()
        heat(stage, "gpu-a02")
        await stage.start()
        await stage.slack.until(lambda: "✅" in card.said, 60)
        await stage.card("gpu-a02 is hot")
        assert len(told(stage, "gpu-a01")) == 1


@pytest.mark.parametrize("away", [refused, unavailable], ids=["no connection", "503"])
async def test_started_while_slack_is_away_it_evaluates_and_serves_and_tells_once_when_slack_is_back(
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
        assert told(stage, "gpu-a01") == []
        await back()
        card = await stage.card("gpu-a01 is hot")
        await stage.slack.connected(60)
        proposed = await stage.asks("dana", "node cordon gpu-a01")
        assert "Cordon gpu-a01?" in proposed.said
        await stage.slack.types("eve", CHANNEL, "/yard help")  # of another workspace: known by now
        heat(stage)
        await stage.slack.until(lambda: "✅" in card.said, 60)
        assert len(told(stage, "gpu-a01")) == 1
        assert stage.slack.ephemerals("eve") == []


class Process:
    """`yardmaster run` as a process of its own."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process

    @classmethod
    async def begin(cls, stage: Light) -> "Process":
        before = len(stage.slack.sockets.connections)
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-c",
            "from bot.cli import main; main()",
            "run",
            "--config",
            str(stage.write_settings()),
            cwd=Path(__file__).parents[2],
            env={**os.environ, "PYTHONWARNINGS": "default"},
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
        )
        try:
            await stage.slack.until(lambda: len(stage.slack.sockets.connections) > before, 60)
        except BaseException:
            process.kill()
            await process.wait()
            raise
        return cls(process)

    async def end(self, how: int) -> int:
        if self._process.returncode is None:
            self._process.send_signal(how)
        async with asyncio.timeout(30):
            return await self._process.wait()


async def test_killed_right_after_a_post_its_next_life_takes_the_message_for_its_own(tmp_path: Path) -> None:
    async with light(tmp_path, start=False) as stage:
        stage.slack.lose_reply("chat.postMessage", hold=True)  # posted, and it will never know
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
        assert len(told(stage, "gpu-a01")) == 1
        assert len(lines(stage, card, "Resolved")) == 1
        assert code == 0
