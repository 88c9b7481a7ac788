"""`kill -9` again and again, while alerts come in, people act on them and Slack fails: nothing is lost or repeated."""

import asyncio
import signal
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from tests.support.examples import by_profile
from tests.support.light import light
from tests.support.outside import OWN_EXPR, RULES, Outside
from tests.support.process import Process

KILLS = by_profile(2, 50)  # two show that the test works: it is for the soak
SEED = 22  # unless the run has one
CALM = by_profile(5, 60)  # seconds after the last fault
LIVES = 2.5  # seconds between a start and a kill, at most
SETTLED = 300.0  # seconds until all is delivered, at most
LONGEST = 300.0 + 30.0 * KILLS  # seconds: it ends what hangs; a slow machine takes minutes


@pytest.fixture
def seed(pytestconfig: pytest.Config) -> int:
    return int(pytestconfig.getoption("--hypothesis-seed") or SEED)


@pytest.mark.soak
async def test_kills_lose_nothing_and_repeat_nothing(
    tmp_path: Path, seed: int, record_property: Callable[[str, object], None]
) -> None:
    print(f"seed {seed}")
    random = Random(seed)
    async with (
        light(tmp_path, start=False, rules=RULES) as stage,
        Outside.on(stage, random=random) as outside,
    ):
        stage.slack.workspace.rate_limiter.strict = True  # a message a second
        # What stays is sent once, and the run takes longer than the five minutes that are given otherwise.
        stage.settings["receive"] = {"resolve_timeout": "1h"}
        process = await Process.begin(stage)
        # Missed evaluations are made up for after the last one that was: there has to be a first.
        async with asyncio.timeout(120):
            while sum(OWN_EXPR in one for one in stage.prometheus.queries) < 2:  # noqa: ASYNC110 - no event tells
                await asyncio.sleep(0.2)
        try:
            async with asyncio.timeout(LONGEST), asyncio.TaskGroup() as rounds:
                for number in range(KILLS):
                    rounds.create_task(outside.round(number))
                    outside.fail(random.randint(1, 3))
                    await asyncio.sleep(random.uniform(0.2, LIVES))
                    await process.end(signal.SIGKILL)
                    await asyncio.sleep(random.uniform(0, 0.5))
                    process = await Process.begin(stage)
                stage.slack.forgive()
            await asyncio.sleep(CALM)
            faults = await outside.settled(SETTLED)
        except TimeoutError:
            said = [one.said for one in stage.slack.ephemerals("dana")]
            raise AssertionError(
                f"after {LONGEST:.0f} s without an answer: {outside.unanswered}; dana read {said}"
            ) from None
        finally:
            await process.end(signal.SIGTERM)
    record_property("kills", {"seed": seed, "kills": KILLS, **_counts(outside), "faults": faults})
    assert faults == []


def _counts(outside: Outside) -> dict[str, int]:
    calls = outside.stage.slack.calls
    return {
        "alerts": len(outside.taken),
        "ends": len(outside.ended),
        "silences": len(outside.silences),
        "acknowledgements": len(outside.acknowledged | outside.closed),
        "posts": calls.count("chat.postMessage", "ok"),
        "posts whose reply was lost": calls.count("chat.postMessage", "lost"),
        "posts refused": calls.count("chat.postMessage") - calls.count("chat.postMessage", "ok"),
    }
