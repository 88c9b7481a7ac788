"""Refusals by Slack: a refused message is delivered soon after somebody fixes the cause."""

import time
from collections.abc import Callable
from datetime import timedelta
from functools import partial
from pathlib import Path

import pytest

from bot.delivery import reconciler
from bot.delivery.retry import RetryPolicy
from demo.lookalikes.slack.state.messages import Message
from tests.support.light import CHANNEL, HOT, Light, light


def heat(stage: Light, *nodes: str) -> None:
    series = [({"node": node, "gpu": "0"}, 91.0) for node in nodes]
    stage.prometheus.truth.say(HOT, *series, since=stage.clock.now())


def cards(stage: Light) -> list[Message]:
    return [one for one in stage.cards() if "is hot" in one.said]


async def was_refused(stage: Light) -> None:
    await stage.slack.until(
        lambda: [
            one for one in stage.slack.calls if one.method == "chat.postMessage" and one.outcome != "ok"
        ],
        30,
    )


def archived(stage: Light) -> Callable[[], None]:
    stage.slack.archive(CHANNEL)
    return lambda: stage.slack.unarchive(CHANNEL)


def revoked(stage: Light) -> Callable[[], None]:
    stage.slack.revoke()
    return stage.slack.restore


BREAKS = [
    pytest.param(archived, id="an archived channel"),
    pytest.param(revoked, id="a revoked token"),
]


@pytest.mark.parametrize("breaks", BREAKS)
async def test_a_refused_critical_card_is_posted_within_half_a_minute_of_the_fix(
    tmp_path: Path, breaks: Callable[[Light], Callable[[], None]], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert RetryPolicy().refused_critical <= timedelta(seconds=30)
    quicker = partial(RetryPolicy, refused_critical=timedelta(seconds=3))
    monkeypatch.setattr(reconciler, "RetryPolicy", quicker)
    async with light(tmp_path) as stage:
        repair = breaks(stage)
        heat(stage, "gpu-a01", "gpu-a02", "gpu-b01")
        await was_refused(stage)
        repair()
        await stage.slack.until(lambda: len(cards(stage)) == 3, 45)


@pytest.mark.parametrize("breaks", BREAKS)
async def test_refused_cards_are_posted_at_once_when_somebody_writes_in_the_channel(
    tmp_path: Path, breaks: Callable[[Light], Callable[[], None]]
) -> None:
    async with light(tmp_path) as stage:
        await stage.asks("dana", "help")  # she is known
        repair = breaks(stage)
        heat(stage, "gpu-a01", "gpu-a02")
        await was_refused(stage)
        repair()
        began = time.monotonic()
        await stage.asks("dana", "help")
        await stage.slack.until(lambda: len(cards(stage)) == 2, 20)
        assert time.monotonic() - began < 15


async def test_refused_cards_are_posted_at_once_when_the_socket_is_opened_again(tmp_path: Path) -> None:
    async with light(tmp_path) as stage:
        stage.slack.archive(CHANNEL)
        heat(stage, "gpu-a01")
        await was_refused(stage)
        stage.slack.unarchive(CHANNEL)
        stage.slack.drop_socket()
        await stage.slack.until(lambda: cards(stage), 20)
