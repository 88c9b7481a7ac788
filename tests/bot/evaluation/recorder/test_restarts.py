"""Restarts at any moment: nothing is lost, and what happened meanwhile is backfilled."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.bot.evaluation.recorder.conftest import a_yard
from tests.support.alerting import NOON, a_rule, minutes
from tests.support.evaluation import Canned
from tests.support.examples import share

strips = st.lists(st.tuples(st.integers(0, 40), st.integers(1, 12)), max_size=4).map(
    lambda found: tuple((begin, begin + length) for begin, length in found)
)


@share(0.3)
@given(
    spans=strips,
    restarts=st.sets(st.integers(0, 50), max_size=6),
    timing=st.tuples(st.integers(0, 4), st.integers(0, 4)),
)
async def test_a_restart_at_any_moment_changes_nothing(
    spans: tuple[tuple[int, int], ...], restarts: set[int], timing: tuple[int, int]
) -> None:
    rule = a_rule(for_=minutes(timing[0]), keep_firing_for=minutes(timing[1]))
    one, other = (a_yard(*spans, rules=(rule,)) for _ in range(2))
    for minute in range(56):
        if minute in restarts:
            await one.restart(minute)
        await one.round(minute)
        await other.round(minute)

    assert await one.alerts() == await other.alerts()
    assert await one.incidents() == await other.incidents()
    assert await one.cards() == await other.cards()
    assert await one.lines() == await other.lines()


@share(0.3)
@given(
    spans=strips,
    outages=st.lists(st.tuples(st.integers(1, 50), st.integers(1, 20)), max_size=3),
    timing=st.tuples(st.integers(0, 4), st.integers(0, 4)),
)
@example(spans=((0, 1), (31, 32)), outages=[(1, 1)], timing=(0, 0))  # resolved at its own time, not when read
@example(spans=((35, 47),), outages=[(27, 20), (48, 1)], timing=(0, 1))  # the latest state is stored
async def test_events_during_downtime_are_backfilled(
    spans: tuple[tuple[int, int], ...], outages: list[tuple[int, int]], timing: tuple[int, int]
) -> None:
    rule = a_rule(for_=minutes(timing[0]), keep_firing_for=minutes(timing[1]))
    one, other = (a_yard(*spans, rules=(rule,)) for _ in range(2))
    down = {minute for begin, length in outages for minute in range(begin, begin + length)}
    for minute in range(80):
        if minute not in down:
            if minute - 1 in down:
                await one.restart(minute)
            await one.round(minute)
        await other.round(minute)

    assert await one.alerts() == await other.alerts()
    ends = [[(it.id, it.opened_at, it.resolved_at) for it in await yard.incidents()] for yard in (one, other)]
    assert ends[0] == ends[1]
    assert [card.id for card in await one.cards()] == [card.id for card in await other.cards()]


async def test_an_alert_that_fired_and_resolved_during_downtime_is_delivered() -> None:
    yard = a_yard((8, 12))
    await yard.run(5)
    await yard.restart(30)
    await yard.round(30)

    (incident,) = await yard.incidents()
    (alert,) = await yard.alerts()
    assert incident.opened_at == NOON + minutes(10)
    assert alert.life.resolved_at == NOON + minutes(13)
    assert incident.resolved_at == alert.life.resolved_at
    assert len(await yard.cards()) == 1


async def test_only_the_end_of_a_long_downtime_is_backfilled() -> None:
    yard = a_yard((8, 12), (400, 404))
    await yard.run(5)
    await yard.restart(450)
    await yard.round(450)

    (incident,) = await yard.incidents()
    assert incident.opened_at == NOON + minutes(402)


@pytest.mark.parametrize("restart_at", range(1, 9))
async def test_a_restart_preserves_keep_firing_for(restart_at: int) -> None:
    """Clear, firing, clear again within a minute: `keep_firing_for` counts from the second clear."""

    def heat(_expr: str, at: datetime) -> Mapping[str, float]:
        quarter = (at - NOON) / minutes(0.25)
        return {"gpu-a01": 91} if quarter < 3 or quarter == 4 else {}

    rule = replace(a_rule(keep_firing_for=minutes(1)), interval=minutes(0.25))
    yard = a_yard(rules=(rule,), metrics=Canned(heat))
    for quarter in range(14):
        if quarter == restart_at:
            await yard.restart(quarter / 4)
        await yard.round(quarter / 4)

    (alert,) = await yard.alerts()
    assert alert.life.resolved_at == NOON + minutes(9 / 4)
