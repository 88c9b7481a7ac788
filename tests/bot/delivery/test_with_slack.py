"""This file kills the telling again and again between a real database and a strict look-alike of Slack."""

import asyncio
from collections import Counter
from contextlib import AsyncExitStack
from datetime import timedelta
from pathlib import Path
from random import Random
from typing import Any

import pytest

from alerts.cards.message import Color
from bot.channels.slack.notifier import SlackNotifier
from bot.channels.slack.web_client import SlackClient
from bot.delivery.retry import RetryPolicy
from bot.store.sql_store import SqlStore
from collectors.facts.clock import SystemClock
from demo.lookalikes.slack import SlackLookalike
from demo.lookalikes.slack.lookalike import Members
from tests.support.examples import by_profile

CARDS = 6
RETRY = RetryPolicy(
    answer=timedelta(seconds=1),
    doubt=timedelta(seconds=2),
    retry=timedelta(seconds=0.2),
    retry_at_most=timedelta(seconds=1),
)


@pytest.mark.soak
@pytest.mark.parametrize("seed", by_profile(range(1, 3), range(1, 31)))
async def test_kills_and_lost_replies_lose_nothing_and_double_nothing(
    yard: Any, tmp_path: Path, seed: int
) -> None:
    random = Random(seed)
    async with AsyncExitStack() as stack:
        slack = await stack.enter_async_context(
            SlackLookalike.running(Members(people=["ana"], channels=["#one", "#two"]))
        )
        calls = await stack.enter_async_context(
            SlackClient(slack.bot_token, api_url=slack.url, timeout=timedelta(seconds=0.8))
        )
        yard.store = await SqlStore.open(f"sqlite+aiosqlite:///{tmp_path / 'yard.db'}")
        stack.push_async_callback(yard.store.close)
        yard.chat, yard.clock = SlackNotifier(calls), SystemClock()
        channels = [slack.id("#one"), slack.id("#two")]
        for number in range(CARDS):
            await yard.truth(
                f"t{number}", f"card {number}", channel=channels[number % 2], line=f"line {number}"
            )
        slack.lose_reply("chat.postMessage", 2)
        slack.late("chat.postMessage", 0.9, lose_reply=True)
        slack.lose_call("chat.postMessage", 1)
        slack.fail("chat.postMessage", "internal_error")
        for _life in range(8):
            async with yard.telling(retry=RETRY, random=random):
                await asyncio.sleep(random.uniform(0.05, 0.9))
        for number in range(CARDS):
            await yard.truth(
                f"t{number}", f"over {number}", channel=channels[number % 2], over=True, color=Color.GOOD
            )
        async with yard.telling(retry=RETRY, random=random):
            await _until_all_is_told(yard)
        said: Counter[str] = Counter()
        for channel in ("#one", "#two"):
            for message in slack.messages(channel):
                said[message.text] += 1
                said.update(reply.text for reply in slack.thread(message))
    assert said == {f"{what} {number}": 1 for what in ("over", "line") for number in range(CARDS)}


async def _until_all_is_told(yard: Any) -> None:
    """Until the store says so: each card settled, each line told."""
    told = asyncio.Event()
    stop = yard.store.listen(lambda _changed: told.set())
    try:
        async with asyncio.timeout(90):
            while True:
                told.clear()
                async with yard.store.unit() as unit:
                    left = [*await unit.cards.find(state="live"), *await unit.replies.find(state="pending")]
                if not left:
                    return
                await told.wait()
    finally:
        stop()
