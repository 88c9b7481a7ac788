"""This file holds what both stores must do alike."""

import asyncio
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from math import inf, isnan, nan
from typing import Any

import pytest

from alerts.lifecycle import AlertState
from bot.store.memory_store import MemoryStore
from bot.store.schema import CARDS
from bot.store.sql_store import SqlStore
from bot.store.unit import Changed
from tests.support.rows import NOON, a_card, a_gesture, a_line, an_alert, an_audit_entry

Stores = MemoryStore | SqlStore
MINUTE = timedelta(minutes=1)


async def test_what_is_put_is_there_in_the_next_unit(store: Stores) -> None:
    async with store.unit() as unit:
        await unit.alerts.put(an_alert())
    async with store.unit() as unit:
        assert await unit.alerts.get(an_alert().id) == an_alert()
        assert await unit.alerts.get("another") is None


async def test_what_is_put_is_seen_in_its_own_unit(store: Stores) -> None:
    async with store.unit() as unit:
        await unit.cards.put(a_card("1"))
        assert await unit.cards.get(a_card("1").id) == a_card("1")
        assert list(await unit.cards.find(row_id="1")) == [a_card("1")]
        await unit.cards.delete(a_card("1").id)
        assert await unit.cards.get(a_card("1").id) is None
        assert list(await unit.cards.find()) == []


async def test_a_put_replaces_the_whole_row(store: Stores) -> None:
    async with store.unit() as unit:
        await unit.cards.put(a_card("1", error="archived"))
    async with store.unit() as unit:
        await unit.cards.put(a_card("1", message_id="1.0"))
    async with store.unit() as unit:
        assert list(await unit.cards.find()) == [a_card("1", message_id="1.0")]


async def test_an_error_takes_everything_back(store: Stores) -> None:
    async with store.unit() as unit:
        await unit.handled_requests.put(a_gesture("kept"))
        assert await unit.next_number("incident") == 1

    async def fail() -> None:
        async with store.unit() as unit:
            await unit.cards.put(a_card())
            await unit.handled_requests.delete("kept")
            await unit.handled_requests.find()
            assert await unit.next_number("incident") == 2
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await fail()
    async with store.unit() as unit:
        assert list(await unit.cards.find()) == []
        assert list(await unit.handled_requests.find()) == [a_gesture("kept")]
        assert await unit.next_number("incident") == 2


async def test_rows_come_in_the_order_of_their_first_put(store: Stores) -> None:
    for id in ("c", "a", "b"):
        async with store.unit() as unit:
            await unit.handled_requests.put(a_gesture(id))
    async with store.unit() as unit:
        await unit.handled_requests.put(a_gesture("d"))
        await unit.handled_requests.put(a_gesture("c", at=NOON + MINUTE))  # a change does not move it
        assert [row.id for row in await unit.handled_requests.find()] == ["c", "a", "b", "d"]
        assert [row.id for row in await unit.handled_requests.find(newest=True, limit=2)] == ["d", "b"]


async def test_a_row_that_is_deleted_and_put_again_is_the_newest(store: Stores) -> None:
    async with store.unit() as unit:
        for id in ("a", "b"):
            await unit.handled_requests.put(a_gesture(id))
    async with store.unit() as unit:
        await unit.handled_requests.delete("a")
        await unit.handled_requests.put(a_gesture("a"))
    async with store.unit() as unit:
        assert [row.id for row in await unit.handled_requests.find()] == ["b", "a"]


async def test_a_row_is_added_once(store: Stores) -> None:
    async with store.unit() as unit:
        assert await unit.handled_requests.add(a_gesture("g"))
        assert not await unit.handled_requests.add(a_gesture("g", at=NOON + MINUTE))
    async with store.unit() as unit:
        assert not await unit.handled_requests.add(a_gesture("g", at=NOON + MINUTE))
        assert await unit.handled_requests.get("g") == a_gesture("g")


@pytest.mark.parametrize("column", CARDS.columns)
async def test_rows_are_found_by_each_column(store: Stores, column: str) -> None:
    card = a_card("1", channel="C1")
    other = replace(a_card("2", channel="C2", is_final=True), cluster="other", kind=card.kind)
    async with store.unit() as unit:
        await unit.cards.put(card)
        await unit.cards.put(other)
        asked: dict[str, Any] = {column: CARDS.read(card)[column]}
        found = list(await unit.cards.find(**asked))
        assert found == ([card, other] if column == "kind" else [card])
        nobodys: dict[str, Any] = {column: "nobody's"}
        assert list(await unit.cards.find(**nobodys)) == []


async def test_a_changed_column_is_what_counts(store: Stores) -> None:
    firing = an_alert()
    resolved = replace(firing, life=replace(firing.life, state=AlertState.RESOLVED))
    async with store.unit() as unit:
        await unit.alerts.put(firing)
    async with store.unit() as unit:
        await unit.alerts.put(resolved)
    async with store.unit() as unit:
        assert list(await unit.alerts.find(state="firing")) == []
        assert list(await unit.alerts.find(state=AlertState.RESOLVED, rule=firing.rule)) == [resolved]


async def test_a_column_that_is_not_there_is_named(store: Stores) -> None:
    async with store.unit() as unit:
        with pytest.raises(ValueError, match="cards cannot be found by colour: use cluster, state"):
            await unit.cards.find(colour="red")


@pytest.mark.parametrize("value", [inf, -inf, 0.1 + 0.2], ids=str)
async def test_values_of_any_size_are_kept(store: Stores, value: float) -> None:
    async with store.unit() as unit:
        await unit.alerts.put(an_alert(value=value))
    async with store.unit() as unit:
        assert await unit.alerts.get(an_alert().id) == an_alert(value=value)


async def test_a_value_that_is_no_number_is_kept(store: Stores) -> None:
    async with store.unit() as unit:
        await unit.alerts.put(an_alert("gpu-名字", value=nan))
    async with store.unit() as unit:
        (kept,) = await unit.alerts.find()
    assert isnan(kept.value)
    assert kept.labels["node"] == "gpu-名字"


async def test_words_in_any_script_are_kept(store: Stores) -> None:
    said = '显卡掉线 🔥 it\'s "quoted" \\ back\nline; DROP TABLE cards'
    async with store.unit() as unit:
        await unit.replies.put(a_line(a_card("显卡'\"--"), "事件", said=said))
    async with store.unit() as unit:
        (line,) = await unit.replies.find(card=a_card("显卡'\"--").id)
    assert line == a_line(a_card("显卡'\"--"), "事件", said=said)


async def test_each_name_has_its_own_numbers(store: Stores) -> None:
    async with store.unit() as unit:
        assert [await unit.next_number("incident") for _ in range(3)] == [1, 2, 3]
        assert await unit.next_number("plan") == 1
    async with store.unit() as unit:
        assert await unit.next_number("incident") == 4


async def test_units_wait_for_each_other(store: Stores) -> None:
    async def count_up() -> None:
        async with store.unit() as unit:
            found = await unit.handled_requests.get("count")
            at = found.at if found else NOON
            await asyncio.sleep(0)
            await unit.handled_requests.put(a_gesture("count", at=at + MINUTE))

    async with asyncio.TaskGroup() as tasks:
        for _ in range(10):
            tasks.create_task(count_up())
    async with store.unit() as unit:
        assert await unit.handled_requests.get("count") == a_gesture("count", at=NOON + 10 * MINUTE)


async def test_a_unit_in_a_unit_is_an_error_and_not_a_wait_for_ever(store: Stores) -> None:
    async with store.unit() as unit:
        await unit.handled_requests.put(a_gesture())
        with pytest.raises(RuntimeError, match="units do not nest"):
            async with store.unit():
                pytest.fail("it was let in")
    async with store.unit() as unit:
        assert await unit.handled_requests.get("g1") is not None


async def test_listeners_hear_what_changed_after_it_is_there(store: Stores) -> None:
    heard: list[Changed] = []
    stop = store.listen(heard.append)
    async with store.unit() as unit:
        await unit.cards.put(a_card("1"))
        await unit.handled_requests.find()
        await unit.handled_requests.delete("nobody's")
        assert heard == []
    assert heard == [{"cards": frozenset({a_card("1").id})}]
    with suppress(ZeroDivisionError):
        async with store.unit() as unit:
            await unit.cards.put(a_card("2"))
            raise ZeroDivisionError
    async with store.unit() as unit:
        await unit.cards.get(a_card("1").id)
    stop()
    async with store.unit() as unit:
        await unit.cards.put(a_card("3"))
    assert len(heard) == 1


async def test_what_is_long_over_is_forgotten_and_the_rest_stays(store: Stores) -> None:
    old, new = NOON, NOON + timedelta(days=30)
    settled = a_card("old", is_final=True, posted_at=old)
    fresh = a_card("new", is_final=True, posted_at=new)
    live = a_card("live", posted_at=old)
    async with store.unit() as unit:
        for card in (settled, fresh, live):
            await unit.cards.put(card)
            await unit.replies.put(a_line(card, at=old))
        await unit.alerts.put(an_alert("a", state=AlertState.RESOLVED, at=old))
        await unit.alerts.put(an_alert("b", state=AlertState.FIRING, at=old))
        await unit.handled_requests.put(a_gesture("g", at=old))
        await unit.audit.put(an_audit_entry(at=old))
    assert await store.prune(old + MINUTE) == {"cards": 1, "replies": 1, "alerts": 1, "handled_requests": 1}
    async with store.unit() as unit:
        assert list(await unit.cards.find()) == [fresh, live]
        assert [line.card for line in await unit.replies.find()] == [fresh.id, live.id]
        assert [alert.labels["node"] for alert in await unit.alerts.find()] == ["b"]
        assert len(await unit.audit.find()) == 1


async def test_a_cancelled_unit_leaves_nothing_and_the_next_one_works(store: Stores) -> None:
    entered = asyncio.Event()

    async def stuck() -> None:
        async with store.unit() as unit:
            await unit.cards.put(a_card())
            await unit.cards.find()
            entered.set()
            await asyncio.Event().wait()

    async with asyncio.TaskGroup() as tasks:
        task: asyncio.Task[Any] = tasks.create_task(stuck())
        await entered.wait()
        task.cancel()
    async with store.unit() as unit:
        assert list(await unit.cards.find()) == []
