"""A step of the machine's wall clock: one card says by how much, and nothing else changes."""

from datetime import timedelta
from pathlib import Path

from tests.support.light import HOT, light
from tests.support.light_stage import PushedClock
from tests.support.rule_file import rule_file

OWN_RULES = rule_file(
    "self",
    {
        "alert": "YardmasterClockSet",
        "check": "clock-set",
        "annotations": {"summary": "set {{ $labels.direction }} by {{ $value | humanizeDuration }}"},
    },
)


async def test_one_card_says_how_far_the_clock_stepped_back(tmp_path: Path) -> None:
    clock = PushedClock()
    async with light(tmp_path, own_rules=OWN_RULES, clock=clock) as stage:
        since = clock.now() - timedelta(hours=9)
        stage.prometheus.truth.say(HOT, ({"node": "gpu-a01", "gpu": "3"}, 91), since=since)
        await stage.card("gpu-a01 is hot")
        clock.set_by(timedelta(hours=-2))
        card = await stage.card("set back by 2h")
        assert "UTC" in card.said
        assert len(stage.cards()) == 2
        assert "Resolved" not in (await stage.card("gpu-a01 is hot")).said
