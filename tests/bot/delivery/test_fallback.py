"""The fallback has what Slack cannot show, and when Slack is back it has one true picture."""

import asyncio
from collections import Counter
from collections.abc import Callable
from datetime import timedelta

import pytest

from bot.channels.slack.notifier import SlackNotifier
from bot.delivery.fallback import FallbackOptions
from bot.delivery.notifier_protocol import Recoverable
from demo.lookalikes.slack.state.messages import Message
from tests.support.chat import FakeChat
from tests.support.storm_stage import StormStage, a_site, racks

pytestmark = pytest.mark.looptime

NODES = racks(4, 1)
FALLBACK = FallbackOptions(channels=("console:log",), after=timedelta(minutes=5))
HOUR = 3600


def a_stage() -> tuple[StormStage, FakeChat]:
    log = FakeChat()
    stage = StormStage(topology=a_site(NODES), storm_from=1000, others={"console": log}, fallback=FALLBACK)
    return stage, log


Breaks = Callable[[StormStage], Callable[[], None]]  # returns what fixes it


def nodes_in(log: FakeChat) -> Counter[str]:
    """Return how many cards the fallback has of each node."""
    said = [one.text for one in log.messages.values() if one.thread is None and not one.is_deleted]
    return Counter(node for node in NODES for text in said if node in text)


def cards_in_slack(stage: StormStage) -> list[Message]:
    return [one for one in stage.slack.everything if not one.is_reply and not one.deleted]


def archived(stage: StormStage) -> Callable[[], None]:
    stage.slack.lookalike.archive("#alerts")
    return lambda: stage.slack.lookalike.unarchive("#alerts")


def revoked(stage: StormStage) -> Callable[[], None]:
    stage.slack.lookalike.workspace.token_trouble = "token_revoked"
    return stage.slack.lookalike.restore


def away(stage: StormStage) -> Callable[[], None]:
    stage.slack.lookalike.workspace.faults.down = "refused"
    return stage.slack.lookalike.up


def failing(stage: StormStage) -> Callable[[], None]:
    stage.slack.lookalike.workspace.faults.down = "503"
    return stage.slack.lookalike.up


REFUSALS = [pytest.param(archived, id="an archived channel"), pytest.param(revoked, id="a revoked token")]
OUTAGES = [pytest.param(away, id="no connection"), pytest.param(failing, id="503")]


@pytest.mark.parametrize("breaks", REFUSALS)
async def test_what_is_refused_is_in_the_fallback_at_once(breaks: Breaks) -> None:
    stage, log = a_stage()
    breaks(stage)
    async with stage.delivering():
        await stage.fire(NODES, ["NodeNotReady"])
        await asyncio.sleep(15)
        assert nodes_in(log) == dict.fromkeys(NODES, 1)


@pytest.mark.parametrize("breaks", OUTAGES)
async def test_what_gets_no_answer_for_minutes_is_in_the_fallback(breaks: Breaks) -> None:
    stage, log = a_stage()
    breaks(stage)
    async with stage.delivering():
        await stage.fire(["n1-01", "n2-01"], ["NodeNotReady"])
        await asyncio.sleep(240)
        assert nodes_in(log) == {}
        await asyncio.sleep(180)
        assert nodes_in(log) == {"n1-01": 1, "n2-01": 1}
        await stage.fire(["n3-01"], ["NodeNotReady"])
        await asyncio.sleep(90)
        assert nodes_in(log) == {"n1-01": 1, "n2-01": 1, "n3-01": 1}


@pytest.mark.parametrize("breaks", [*REFUSALS, *OUTAGES])
async def test_when_slack_is_back_it_has_one_true_picture(breaks: Breaks) -> None:
    stage, log = a_stage()
    async with stage.delivering():
        first = await stage.fire(["n1-01"], ["NodeNotReady"])
        await asyncio.sleep(30)
        before = stage.slack.posts
        back = breaks(stage)
        over = await stage.fire(["n2-01"], ["NodeNotReady"])
        await asyncio.sleep(HOUR / 4)
        for rule in ("GPUGone", "KubeletDown", "NodeUnreachable"):  # each is a reply in a thread
            await stage.fire(["n1-01"], [rule])
            await asyncio.sleep(60)
        await stage.end(over)
        await asyncio.sleep(HOUR / 2)
        last = await stage.fire(["n3-01"], ["NodeNotReady"])
        await asyncio.sleep(HOUR / 4)
        assert nodes_in(log) == {"n1-01": 1, "n2-01": 1, "n3-01": 1}
        back()
        await asyncio.sleep(20 * 60)
        assert len(cards_in_slack(stage)) == 3
        assert stage.slack.posts - before <= 2 + 2  # two cards that were missing, and a reply for each thread
        (n1,) = [one for one in cards_in_slack(stage) if "n1-01" in one.said]
        assert "GPUGone" in n1.said
        (n2,) = [one for one in cards_in_slack(stage) if "n2-01" in one.said]
        assert "✅" in n2.said
        await stage.end([*first, *last])
        await asyncio.sleep(60)
        assert [one.text for one in log.messages.values() if "n3-01" in one.text and one.thread is None] == [
            "Resolved: Over: NodeNotReady of n3-01"
        ]


async def test_what_waits_for_an_hour_is_said_in_one_reply() -> None:
    stage, _ = a_stage()
    async with stage.delivering():
        first = await stage.fire(["n1-01"], ["NodeNotReady"], severity="warning")
        await asyncio.sleep(30)
        back = archived(stage)
        graver = await stage.fire(["n1-01"], ["GPUGone"])
        await asyncio.sleep(300)
        await stage.end([*first, *graver])
        await asyncio.sleep(300)
        await stage.fire(["n1-01"], ["GPUGone"])
        await asyncio.sleep(300)
        back()
        await asyncio.sleep(20 * 60)
    replies = [one for one in stage.slack.everything if one.is_reply]
    said = "\n".join(one.said for one in replies)
    assert len(replies) == 1
    assert [event in said for event in ("Severity raised", "Resolved", "Reopened")] == [True] * 3


async def test_a_slack_that_asks_for_a_pause_is_not_away() -> None:
    stage, log = a_stage()
    stage.slack.lookalike.fail("chat.postMessage", "ratelimited", times=10, retry_after=60)
    async with stage.delivering():
        await stage.fire(["n1-01"], ["NodeNotReady"])
        await asyncio.sleep(400)
        assert nodes_in(log) == {}
        await asyncio.sleep(400)
        assert len(cards_in_slack(stage)) == 1


async def test_a_channel_that_is_busy_without_saying_for_how_long_is_not_away(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def busy(*_: object, **__: object) -> str:
        raise Recoverable("429", is_answer=True)

    stage, log = a_stage()
    monkeypatch.setattr(SlackNotifier, "post", busy)
    async with stage.delivering():
        await stage.fire(["n1-01"], ["NodeNotReady"])
        await asyncio.sleep(900)
        assert nodes_in(log) == {}


async def test_a_restart_while_slack_is_away_repeats_nothing_in_the_fallback() -> None:
    stage, log = a_stage()
    archived(stage)
    async with stage.delivering():
        await stage.fire(NODES, ["NodeNotReady"])
        await asyncio.sleep(15)
    stage.restart()
    async with stage.delivering():
        await asyncio.sleep(120)
        await stage.cycle()
        assert nodes_in(log) == dict.fromkeys(NODES, 1)


async def test_a_card_of_the_fallback_says_in_whose_place_it_is() -> None:
    stage, _ = a_stage()
    archived(stage)
    async with stage.delivering():
        await stage.fire(["n1-01"], ["NodeNotReady"])
        await asyncio.sleep(15)
    (card,) = [one for one in await stage.cards() if one.channel == "console:log"]
    assert card.instead_of == f"slack:{stage.slack.id}"
    async with stage.store.read() as snapshot:
        composed = await stage.catalogue.compose(card, snapshot, stage.clock.now())
    assert f"{card.instead_of}" in repr(composed.message)
