"""Hundreds of cards at once: work is linear in their number, and the first is posted before the last is composed."""

import asyncio
from collections.abc import Iterable
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest

from bot.delivery.card_entries import CardEntry
from bot.delivery.channel_worker import ChannelWorker
from bot.delivery.desired_state import BATCH_SIZE, DesiredState
from bot.delivery.job_queue import DueJob
from bot.delivery.rate_limiter import UNLIMITED
from tests.support.chat import CHAT

pytestmark = pytest.mark.looptime

CARDS = 300
AT_ONCE = 8


@pytest.fixture
async def storm(yard: Any) -> Any:
    """A yard whose chat only posts, several at a time, with cards to post."""
    can = replace(CHAT, edit=False, find=False, thread=False, at_once=AT_ONCE, limits=UNLIMITED)
    yard.chat.capabilities, yard.chat.seconds_a_post = can, 0.0
    for number in range(CARDS):
        await yard.put(f"t{number}", "queued")
    return yard


async def test_the_first_card_is_posted_before_the_last_is_composed(
    storm: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    composed, posted = 0, storm.chat.calls
    composed_before: list[int] = []
    compose = DesiredState._compose

    async def counted(self: DesiredState, *more: Any) -> None:
        nonlocal composed
        composed += 1
        await asyncio.sleep(0.01)
        if posted and not composed_before:
            composed_before.append(composed)
        await compose(self, *more)

    monkeypatch.setattr(DesiredState, "_compose", counted)
    async with storm.delivering():
        await asyncio.sleep(60)
    assert composed_before[0] <= 2 * BATCH_SIZE
    assert len(storm.chat.said("C1")) == CARDS


async def test_a_post_looks_at_its_own_card_only(storm: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    looked_at = 0
    jobs_of = ChannelWorker._jobs_of

    def counted(self: ChannelWorker, entry: CardEntry) -> Iterable[DueJob]:
        nonlocal looked_at
        looked_at += 1
        return jobs_of(self, entry)

    monkeypatch.setattr(ChannelWorker, "_jobs_of", counted)
    async with storm.delivering():
        await asyncio.sleep(60)
    assert len(storm.chat.said("C1")) == CARDS
    assert looked_at <= 4 * CARDS  # when it is loaded, composed and posted, and once to spare


async def test_posts_that_end_together_are_stored_together(storm: Any) -> None:
    units = 0
    unit = storm.store.unit

    @asynccontextmanager
    async def counted() -> Any:
        nonlocal units
        units += 1
        async with unit() as opened:
            yield opened

    storm.store.unit = counted
    async with storm.delivering():
        await asyncio.sleep(60)
    assert len(storm.chat.said("C1")) == CARDS
    loading = CARDS / BATCH_SIZE
    assert units <= loading + 2.5 * CARDS / AT_ONCE
