"""The count of F9: nothing is missed of a watch that breaks, and what a cache loses is counted."""

import asyncio
from datetime import timedelta

import pytest

from benchmarks import broken_watches as ways
from collectors.cluster.reflected_objects import ReflectedObjects

SHORT = timedelta(seconds=4)


async def test_nothing_is_missed_of_watches_that_break() -> None:
    breaks = (ways.refused_as_expired, ways.expired_while_paging)
    expired, ended = await asyncio.gather(
        ways.count(breaks, seed=1, stale_after=SHORT),
        ways.count((ways.broken_off, ways.ended_after_a_bookmark), seed=1, stale_after=SHORT),
    )
    assert (expired.missed, ended.missed) == (0, 0)
    assert min(expired.changes, ended.changes) > 10


async def test_deletions_that_a_cache_loses_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ReflectedObjects, "keep", lambda *_: None)
    found = await ways.count((ways.expired,), seed=1, stale_after=SHORT, within=timedelta(seconds=1))
    assert found.missed >= 1


async def test_changes_that_a_cache_does_not_publish_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    apply, seen = ReflectedObjects.apply, []

    def lose_some(self: ReflectedObjects, event: object) -> None:  # type: ignore[type-arg]
        seen.append(event)
        if len(seen) != 3:
            apply(self, event)  # type: ignore[arg-type]

    monkeypatch.setattr(ReflectedObjects, "apply", lose_some)
    found = await ways.count((ways.ended,), seed=1, stale_after=SHORT, within=timedelta(seconds=1))
    assert found.missed >= 1
