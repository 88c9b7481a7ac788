"""Figures are shown now and then, and after every fact."""

import asyncio
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest

from bot.delivery.card_entries import REFRESH_EVERY
from collectors.facts.sentences import Sentence, sentence
from tests.support.chat import CHAT

pytestmark = pytest.mark.looptime

MINUTE = REFRESH_EVERY.total_seconds()


def edits(yard: Any, since: float = 0.0) -> list[float]:
    """The loop times of all edits since then."""
    return [at for at, method, _ in yard.chat.calls if method == "edit" and at >= since]


def running(number: int) -> Sentence:
    return sentence("{number} of 9 run", number=number)


async def count(yard: Any, id: str, seconds: int, **more: Any) -> None:
    """Let a figure on the card grow by one each second."""
    for second in range(seconds):
        await yard.put(id, sentence("{count} of 900 run", count=second), **more)
        await asyncio.sleep(1)


async def test_a_figure_that_grows_each_second_is_shown_once_a_minute_and_at_last(yard: Any) -> None:
    async with yard.delivering():
        await count(yard, "t1", 271)
        await asyncio.sleep(MINUTE + 2)
    assert yard.chat.said("C1") == ["270 of 900 run"]
    times = edits(yard)
    assert len(times) == 5
    assert all(later - earlier >= MINUTE for earlier, later in pairwise(times))


async def test_a_change_of_state_is_shown_at_once_with_the_figure_of_that_moment(yard: Any) -> None:
    async with yard.delivering():
        await count(yard, "t1", 10)
        await yard.put("t1", sentence("{count} of 900 failed", count=12))
        await asyncio.sleep(1)
    assert yard.chat.said("C1") == ["12 of 900 failed"]
    assert len(edits(yard)) == 1


async def test_states_that_follow_each_other_at_once_are_few_edits(yard: Any) -> None:
    """The steps of a plan: the first is shown at once, and the last within a second."""
    async with yard.delivering():
        await yard.put("t1", "about to start")
        await asyncio.sleep(5)
        for step in "abcdefgh":
            await yard.put("t1", f"step {step} done")
            await asyncio.sleep(0.1)
        await asyncio.sleep(1)
    assert yard.chat.said("C1") == ["step h done"]
    assert len(edits(yard)) == 2


async def test_a_restart_does_not_refresh_sooner(yard: Any) -> None:
    async with yard.delivering():
        await yard.put("t1", running(1))
        await asyncio.sleep(5)
    await yard.put("t1", running(2))
    async with yard.delivering():
        await asyncio.sleep(MINUTE - 10)
        assert not edits(yard)
        await asyncio.sleep(10)
    assert yard.chat.said("C1") == ["2 of 9 run"]


async def test_a_final_card_shows_its_last_figures(yard: Any) -> None:
    async with yard.delivering():
        await yard.put("t1", running(1))
        await asyncio.sleep(2)
        await yard.put("t1", running(9), over=True)
        await asyncio.sleep(MINUTE + 2)
    assert yard.chat.said("C1") == ["9 of 9 run"]
    assert (await yard.card("t1")).is_final


async def test_a_channel_without_edits_gets_no_post_for_a_figure(yard: Any) -> None:
    yard.chat.capabilities = replace(CHAT, edit=False)
    async with yard.delivering():
        await count(yard, "t1", 90)
        await yard.put("t1", sentence("{count} of 900 failed", count=90))
        await asyncio.sleep(2)
        await yard.put("t1", sentence("{count} of 900 failed", count=91), over=True)
        await asyncio.sleep(2)
    assert yard.chat.said("C1") == ["0 of 900 run", "90 of 900 failed"]
    assert (await yard.card("t1")).is_final


async def test_facts_go_before_figures_in_every_channel(yard: Any) -> None:
    """More figures than the limit of edits lets through; each fact is there as fast as without them."""
    channels = [f"C{number}" for number in range(4)]
    async with yard.delivering():
        for number in range(120):
            await yard.put(f"t{number}", running(0), channel=channels[number % 4])
        await asyncio.sleep(60)
        for round_ in range(1, 40):
            for number in range(120):
                await yard.put(f"t{number}", running(round_), channel=channels[number % 4])
            await asyncio.sleep(7)
            news, channel = f"news-{round_}", channels[round_ % 4]
            await yard.put(f"t{round_}", news, channel=channel)
            await asyncio.sleep(1)
            assert news in yard.chat.said(channel)
            await yard.put(f"t{round_}", running(0), channel=channel)
    assert len(edits(yard)) > 150
    assert yard.chat.too_fast == 0
