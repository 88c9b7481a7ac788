"""A trial that gets the inputs of a live run lists what that run did."""

from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path

from commands.gates.remediation import Allowance
from tests.bot.jobs.remediator.conftest import Stage, a_stage

# Minutes, and what fires (+), resolves (-) or is uncordoned by a person (=) then.
RECORDED: Mapping[int, tuple[str, ...]] = {
    0: ("+gpu-a01", "+gpu-a02"),
    5: ("-gpu-a01",),
    20: ("=gpu-a01",),
    22: ("-gpu-a02",),
    35: ("=gpu-a02",),
    40: ("+gpu-a03",),
    45: ("=gpu-a03",),
    50: ("-gpu-a03", "+gpu-a01"),
}


async def _replayed(stage: Stage, cordoned: Mapping[int, tuple[str, ...]]) -> dict[int, tuple[str, ...]]:
    """Play what was recorded. `cordoned`: what the live run cordoned, by minute; return what this run did."""
    done: dict[int, tuple[str, ...]] = {}
    seen = 0
    for minute in range(60):
        for word in RECORDED.get(minute, ()):
            match word[0]:
                case "+":
                    await stage.fire(word[1:])
                case "-":
                    await stage.resolve(word[1:])
                case _:
                    await stage.yard.do(f"node uncordon {word[1:]}")
                    await stage.out(word[1:], out=False)
        await stage.look()
        acted = [one for one in await stage.all() if one.has_acted]
        if len(acted) > seen:
            done[minute] = tuple(one.line for one in acted[seen:])
            seen = len(acted)
        for node in {line.split()[2] for line in (*done.get(minute, ()), *cordoned.get(minute, ()))}:
            if cordoned:
                await stage.yard.do(f"node cordon {node}")
            await stage.out(node)
        stage.yard.clock.move(timedelta(minutes=1))
    return done


async def test_a_trial_fed_with_the_inputs_of_a_live_run_lists_just_what_that_did(tmp_path: Path) -> None:
    (tmp_path / "live").mkdir()
    (tmp_path / "trial").mkdir()
    async with a_stage(tmp_path / "live") as stage:
        lived = await _replayed(stage, {})
    assert lived, "the live run did something"
    assert sum(map(len, lived.values())) >= 3
    async with a_stage(tmp_path / "trial", allowance=Allowance()) as stage:
        assert await _replayed(stage, lived) == lived
        assert {one.is_trial for one in await stage.all()} == {True}
