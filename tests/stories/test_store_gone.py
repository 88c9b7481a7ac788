"""The file of the store goes away under the bot: people hear of it, and it heals when it is back."""

import asyncio
import sys
from pathlib import Path

import aiohttp
import pytest

from bot.jobs import store_watch
from tests.support.light import CHANNEL, light


async def test_people_hear_of_a_store_that_is_gone_and_it_heals_when_it_is_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store_watch, "LOOK_EVERY", 0.1)
    async with light(tmp_path) as stage, aiohttp.ClientSession() as http:
        file, away = tmp_path / "yard.db", tmp_path / "away"
        file.rename(away)
        await stage.card("Yardmaster cannot store anything: the file of its store is gone.")
        async with http.get(f"{stage.yard.server.address}/readyz") as answer:
            assert answer.status == 503
            assert "was deleted while Yardmaster runs" in await answer.text()
        message = await stage.asks("dana", "silence add GPUHot --for 1h --reason test")
        assert "could not store it" in message.said
        away.rename(file)
        await stage.card("The file of Yardmaster's store is back")
        message = await stage.asks("dana", "node list")
        assert "gpu-a01" in message.said
        said = [one for one in stage.cards(CHANNEL) if "file of" in one.said]
        assert len(said) == 2


async def test_a_second_process_on_the_same_store_says_so_and_does_not_act(tmp_path: Path) -> None:
    async with light(tmp_path) as stage:
        before = len(stage.slack.sockets.connections)
        second = await asyncio.create_subprocess_exec(
            sys.executable,
            "-c",
            "from bot.cli import main; main()",
            "run",
            "--config",
            str(stage.write_settings()),
            cwd=Path(__file__).parents[2],
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        async with asyncio.timeout(120):
            output, _ = await second.communicate()
        assert second.returncode == 1
        assert "is held by another Yardmaster (process " in output.decode()
        assert len(stage.slack.sockets.connections) == before
