"""A full queue before a Slack that answers 429: criticals first, nothing lost, no burst over Slack's limits."""

import asyncio
from datetime import timedelta
from itertools import pairwise

import pytest

from demo.lookalikes.slack.state.ledger import Call
from tests.support.storm_stage import StormStage, a_site, racks

pytestmark = pytest.mark.looptime

NODES = racks(60, 1)
CRITICAL = [f"n{number}-01" for number in range(51, 61)]
OTHERS = [node for node in NODES if node not in CRITICAL]
PAUSE = timedelta(seconds=30)


def calls(stage: StormStage, method: str) -> list[Call]:
    return stage.slack.lookalike.workspace.ledger.of(method)


async def test_criticals_go_first_and_nothing_is_lost_while_slack_asks_for_pauses() -> None:
    stage = StormStage(topology=a_site(NODES), storm_from=1000)
    slack = stage.slack.lookalike
    async with stage.delivering():
        quiet = await stage.fire(OTHERS, ["NodeNotReady"], severity="warning")
        await asyncio.sleep(5)  # some are posted, and all of the others wait
        slack.fail("chat.postMessage", "ratelimited", retry_after=PAUSE.seconds)
        slack.fail("chat.update", "ratelimited", retry_after=PAUSE.seconds)
        await stage.end(quiet[:3])
        await stage.fire(CRITICAL, ["NodeNotReady"])
        before = len(stage.slack.cards)
        await asyncio.sleep(600)
        said = [one.said for one in stage.slack.cards]
        places = [place for place, words in enumerate(said) if any(node in words for node in CRITICAL)]
        assert places == list(range(places[0], places[0] + 10))
        assert before <= places[0] <= before + 1  # one was on its way
        assert sorted(node for node in NODES if sum(node in words for words in said) == 1) == sorted(NODES)
        assert sum("✅" in words for words in said) == 3
    _keeps_the_limits(stage)


def _keeps_the_limits(stage: StormStage) -> None:
    """Check Slack's own record: a message a second and channel, the tiers, and no call within a pause."""
    for method in ("chat.postMessage", "chat.update"):
        made = calls(stage, method)
        refused = [one for one in made if one.outcome == "ratelimited"]
        assert len(refused) == 1  # the one that the test ordered
        for one in refused:
            assert not [other for other in made if one.at < other.at < one.at + PAUSE]
    posts = calls(stage, "chat.postMessage")
    assert all(later.at - one.at >= timedelta(seconds=1) for one, later in pairwise(posts))
    edits = [one.at for one in calls(stage, "chat.update")]
    assert all(sum(at <= other < at + timedelta(minutes=1) for other in edits) <= 50 for at in edits)
