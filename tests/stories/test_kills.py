"""Six real kills lose and repeat no alert, message, silence or acknowledgement. `make soak` has fifty."""

from pathlib import Path

from tests.support.kill_stage import MOMENTS, KillStage
from tests.support.light import light


async def test_a_process_that_is_killed_at_each_moment_loses_and_repeats_nothing(tmp_path: Path) -> None:
    async with light(tmp_path, start=False) as stage, KillStage.on(stage) as kills:
        for moment in MOMENTS:
            await kills.round(moment)
        assert await kills.left() == []
        assert (len(kills.taken), len(kills.ended), len(kills.acknowledged), len(kills.silences)) == (
            5,
            1,
            1,
            1,
        )
