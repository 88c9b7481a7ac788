"""Cards that cannot be composed."""

import asyncio
from typing import Any

import pytest

from collectors.internal_errors import InternalErrors
from commands.models import Launch

pytestmark = pytest.mark.looptime


def _fields(row: Any) -> dict[str, Any]:
    return {name: getattr(row, name) for name in row.__dataclass_fields__}


async def break_composer(yard: Any, id: str) -> None:
    async with yard.store.unit() as unit:
        row = await unit.rows(Launch).get(id)
        assert row is not None
        await unit.rows(Launch).put(type(row)(**{**_fields(row), "reported_reason": "no such color"}))


async def test_a_broken_composer_affects_only_its_own_card_which_says_so(yard: Any) -> None:
    await yard.put("t1", "queued")
    await yard.put("t2", "broken")
    await break_composer(yard, "t2")
    async with yard.delivering():
        await asyncio.sleep(10)
        assert yard.chat.said("C1") == ["queued"]  # the error may pass
        await asyncio.sleep(60)
        assert sorted(yard.chat.said("C1")) == ["This card of launch t2 cannot be shown", "queued"]
        await yard.put("t2", "fixed")
        await asyncio.sleep(10)
    assert sorted(yard.chat.said("C1")) == ["fixed", "queued"]


async def test_a_card_that_breaks_later_keeps_its_message_with_one_note(yard: Any) -> None:
    counts: list[str] = []
    await yard.put("t1", "queued")
    async with yard.delivering(errors=InternalErrors(counts.append)) as reconciler:
        await asyncio.sleep(10)
        await break_composer(yard, "t1")
        await asyncio.sleep(600)
        edits = reconciler.counts["edit"]
    assert yard.chat.said("C1") == ["queued"]
    assert len(counts) >= 9  # composed again every minute
    assert set(counts) == {"card"}
    assert edits == 1  # the note, once


async def test_a_posted_card_that_cannot_be_composed_after_a_restart_stays_as_it_is(yard: Any) -> None:
    await yard.put("t1", "queued")
    async with yard.delivering():
        await asyncio.sleep(10)
    await break_composer(yard, "t1")
    async with yard.delivering():
        await asyncio.sleep(600)
    assert yard.chat.said("C1") == ["queued"]


async def test_a_launch_that_restarts_while_its_end_is_posted_is_not_final(yard: Any) -> None:
    card = await yard.put("t1", "over", over=True)
    async with asyncio.TaskGroup() as tasks:
        task = tasks.create_task(yard.reconciler().run())  # without a change signal
        await asyncio.sleep(0.02)
        await yard.put("t1", "restarted")
        await asyncio.sleep(5)
        task.cancel()
    assert yard.chat.said("C1") == ["restarted"]
    assert not (await yard.card("t1")).is_final
    assert card.message_id == ""
