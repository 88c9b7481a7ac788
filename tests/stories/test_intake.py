"""The intake: interactions are stored before they are acknowledged, so a crash or a stuck store loses nothing."""

import asyncio
import signal
import sqlite3
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, closing, contextmanager
from datetime import timedelta
from pathlib import Path

import aiohttp
import pytest

from bot.channels.slack.listeners import PENDING, TAKEN
from tests.support.light import CHANNEL, Light, light
from tests.support.process import Process
from tests.support.ways_of_typing import EACH_WAY, Typing, by_mention

CORDON = "node cordon gpu-a01 --reason fan"


@contextmanager
def locked(stage: Light) -> Iterator[None]:
    """Hold the database's write lock, as another process or a stuck disk would."""
    with closing(sqlite3.connect(stage.folder / "yard.db", isolation_level=None)) as other:
        other.execute("PRAGMA busy_timeout=10000")
        other.execute("BEGIN IMMEDIATE")
        yield
        other.execute("ROLLBACK")


@asynccontextmanager
async def by_http(stage: Light) -> AsyncIterator[None]:
    """Run the bot without Socket Mode: Slack posts to /slack/events."""
    stage.settings["slack"].pop("app_token")
    stage.settings["slack"]["signing_secret"] = stage.slack.signing_secret
    await stage.begin()
    await stage.until(lambda: stage.yard.server.address)
    await stage.slack.deliver_to(f"{stage.yard.server.address}/slack/events")
    await stage.until(lambda: all(one.has_evaluated for one in stage.yard.evaluators.values()))
    yield


async def reads(stage: Light, who: str, words: str) -> None:
    """Wait until somebody reads these words."""
    await stage.slack.until(lambda: [one for one in stage.slack.ephemerals(who) if words in one.said], 30)


@EACH_WAY
async def test_a_line_that_was_acknowledged_before_a_kill_is_answered_after_the_restart(
    tmp_path: Path, typed: Typing
) -> None:
    async with light(tmp_path, start=False) as stage:
        stage.slack.lose_reply("users.info", hold=True)  # the work cannot begin
        first = await Process.begin(stage)
        try:
            await typed(stage, "eli", CORDON)
            await stage.slack.until(lambda: stage.slack.envelopes and stage.slack.envelopes[-1].acked)
            await stage.slack.until(lambda: stage.slack.calls.of("users.info"))
        finally:
            await first.end(signal.SIGKILL)
        second = await Process.begin(stage)
        try:

            def answers() -> list[str]:
                seen = (*stage.slack.ephemerals("eli"), *stage.slack.everything("@eli"))
                return [one.said for one in seen if one.by_bot]

            await stage.slack.until(answers, 60)
            await asyncio.sleep(1)
            assert ["Cordon gpu-a01?" in said for said in answers()] == [True]
        finally:
            await second.end(signal.SIGTERM)


async def test_a_confirmation_that_was_acknowledged_before_a_kill_runs_once_after_the_restart(
    tmp_path: Path,
) -> None:
    async with light(tmp_path, start=False) as stage:
        first = await Process.begin(stage)
        try:
            preview = await stage.asks("dana", CORDON)
            stage.slack.lose_reply("users.info", hold=True)
            await stage.slack.presses("dana", preview, "Confirm")
            await stage.slack.until(lambda: stage.slack.envelopes[-1].acked)
        finally:
            await first.end(signal.SIGKILL)
        assert stage.writes() == []
        second = await Process.begin(stage)
        try:
            await stage.until(stage.writes)
            await stage.card("Cordon gpu-a01: done")
        finally:
            await second.end(signal.SIGTERM)
        assert [seen.method for seen in stage.writes()] == ["PATCH"]


@pytest.mark.parametrize("through", ["socket", "http"])
async def test_what_is_stored_late_is_not_acknowledged_and_the_person_hears_that_it_was_taken(
    tmp_path: Path, through: str
) -> None:
    async with light(tmp_path, start=False) as stage:
        if through == "socket":
            await stage.start()
        async with by_http(stage) if through == "http" else _nothing():
            await stage.asks("dana", "help")
            with locked(stage):
                sent = await stage.slack.types("dana", CHANNEL, f"/yard {CORDON}")
                assert sent.error
                assert not stage.slack.envelopes[-1].acked
                if through == "http":
                    assert stage.slack.envelopes[-1].deliveries[-1].reason == "http_error"
                await reads(stage, "dana", PENDING)
            await reads(stage, "dana", TAKEN)
            await reads(stage, "dana", "Cordon gpu-a01?")
            assert len(await stage.plans()) == 1


async def test_a_guest_gets_no_answer_when_their_line_was_not_stored(tmp_path: Path) -> None:
    async with light(tmp_path) as stage:
        with locked(stage):
            await stage.slack.types("gus", CHANNEL, f"/yard {CORDON}")
            await stage.slack.types("dana", CHANNEL, f"/yard {CORDON}")
            await stage.slack.until(lambda: stage.slack.ephemerals("dana"))
        assert stage.slack.ephemerals("gus") == []


async def test_a_mention_that_was_stored_late_runs_once_when_slack_delivers_it_again(tmp_path: Path) -> None:
    async with light(tmp_path) as stage:
        with locked(stage):
            await by_mention(stage, "eli", CORDON)
            await stage.slack.until(lambda: stage.slack.envelopes and stage.slack.ephemerals("eli"))
        stage.slack.redeliver(stage.slack.envelopes[-1])
        await reads(stage, "eli", TAKEN)
        await reads(stage, "eli", "Cordon gpu-a01?")
        assert len(await stage.plans()) == 1


async def test_a_line_from_long_ago_is_not_run_and_its_sender_hears_why(tmp_path: Path) -> None:
    async with light(tmp_path) as stage:
        preview = await stage.asks("dana", CORDON)
        (plan,) = await stage.plans()
        stage.slack.lose_reply("users.info", hold=True)
        await stage.slack.presses("dana", preview, "Confirm")
        await stage.slack.types("eli", CHANNEL, "/yard gpu list")
        await stage.stop()
        stage.clock.forward(timedelta(minutes=20))
        await stage.start()
        said = await stage.slack.until(lambda: stage.slack.ephemerals("eli"))
        assert "gpu list" in said[0].said
        assert "too old" in said[0].said
        await stage.slack.until(lambda: "too old" in preview.said)
        await stage.asks("dana", "help")
        assert (await stage.plans()) == [plan]
        assert stage.writes() == []


@asynccontextmanager
async def _nothing() -> AsyncIterator[None]:
    yield


NO_JSON = {
    "no JSON": (b"{no json", "application/json"),
    "a form without JSON": (b"payload=%7Bno", "application/x-www-form-urlencoded"),
    "a list": (b"[1]", "application/json"),
    "deeply nested": (b"[" * 100_000, "application/json"),
    "not UTF-8": (b"\xff\xfe", "application/json"),
}


async def test_a_body_that_is_not_json_is_refused_without_a_traceback(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    answered: dict[str, int] = {}
    async with light(tmp_path, start=False) as stage, by_http(stage), aiohttp.ClientSession() as session:
        address = f"{stage.yard.server.address}/slack/events"
        for name, (body, kind) in NO_JSON.items():
            async with session.post(address, data=body, headers={"Content-Type": kind}) as answer:
                answered[name] = answer.status
    assert answered == dict.fromkeys(NO_JSON, 400)
    assert "Traceback" not in capfd.readouterr().out + caplog.text
