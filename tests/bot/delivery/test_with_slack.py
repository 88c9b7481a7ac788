"""Delivery from a real database to a strict Slack look-alike, while the reconciler is killed again and again."""

import asyncio
from collections import Counter
from contextlib import AsyncExitStack
from datetime import timedelta
from pathlib import Path
from random import Random
from typing import Any

import pytest

from alerts.cards.message import Color
from alerts.cards.posted import PostedCard, ThreadReply
from bot.channels.slack.notifier import SlackNotifier
from bot.channels.slack.web_client import SlackClient
from bot.delivery.retry import RetryPolicy
from bot.store.sql_store import SqlStore
from collectors.facts.clock import SystemClock
from demo.lookalikes.slack import SlackLookalike
from demo.lookalikes.slack.lookalike import Members
from tests.support.examples import by_profile
from tests.support.new_store import new_store

CARDS = 6
RETRY = RetryPolicy(
    answer=timedelta(seconds=1),
    outcome_timeout=timedelta(seconds=2),
    retry=timedelta(seconds=0.2),
    max_retry=timedelta(seconds=1),
)


@pytest.mark.soak
@pytest.mark.parametrize("seed", by_profile(range(1, 3), range(1, 31)))
async def test_kills_and_lost_replies_lose_and_duplicate_nothing(
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
        yard.store = await SqlStore.open(new_store(tmp_path))
        stack.push_async_callback(yard.store.close)
        yard.chat, yard.clock = SlackNotifier(calls), SystemClock()
        channels = [slack.id("#one"), slack.id("#two")]
        for number in range(CARDS):
            await yard.put(
                f"t{number}", f"card {number}", channel=channels[number % 2], reply=f"reply {number}"
            )
        slack.lose_reply("chat.postMessage", 2)
        slack.late("chat.postMessage", 0.9, lose_reply=True)
        slack.lose_call("chat.postMessage", 1)
        slack.fail("chat.postMessage", "internal_error")
        for _restart in range(8):
            async with yard.delivering(retry=RETRY, random=random):
                await asyncio.sleep(random.uniform(0.05, 0.9))
        for number in range(CARDS):
            await yard.put(
                f"t{number}", f"over {number}", channel=channels[number % 2], over=True, color=Color.GOOD
            )
        async with yard.delivering(retry=RETRY, random=random):
            await _until_delivered(yard)
        posted: Counter[str] = Counter()
        for channel in ("#one", "#two"):
            for message in slack.messages(channel):
                posted[message.text] += 1
                posted.update(reply.text for reply in slack.thread(message))
    assert posted == {f"{kind} {number}": 1 for kind in ("over", "reply") for number in range(CARDS)}


async def _until_delivered(yard: Any) -> None:
    """Wait until the store has no live card and no pending reply."""
    changed = asyncio.Event()
    stop = yard.store.listen(lambda _changed: changed.set())
    try:
        async with asyncio.timeout(90):
            while True:
                changed.clear()
                async with yard.store.unit() as unit:
                    rows = [
                        *await unit.rows(PostedCard).find(state="live"),
                        *await unit.rows(ThreadReply).find(state="pending"),
                    ]
                if not rows:
                    return
                await changed.wait()
    finally:
        stop()
