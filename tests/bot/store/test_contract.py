"""The contract of the stores: the one in memory, which tests use, and one of each back end."""

import asyncio
import sqlite3
from contextlib import suppress
from datetime import timedelta
from math import inf, isnan, nan
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from alerts.alert import Alert
from alerts.cards.posted import PostedCard, ThreadReply
from alerts.lifecycle import AlertState
from alerts.store import Changed
from bot.store.sql_store import SqlStore
from collectors.internal_errors import InternalErrors
from commands.models import AuditEntry, HandledRequest
from tests.support.memory_store import MemoryStore
from tests.support.rows import NOON, a_card, a_handled_request, a_line, an_alert, an_audit_entry

Stores = MemoryStore | SqlStore
MINUTE = timedelta(minutes=1)


async def test_a_row_is_visible_in_the_next_unit(store: Stores) -> None:
    async with store.unit() as unit:
        await unit.rows(Alert).put(an_alert())
    async with store.unit() as unit:
        assert await unit.rows(Alert).get(an_alert().id) == an_alert()
        assert await unit.rows(Alert).get("another") is None


async def test_a_row_is_visible_in_its_own_unit(store: Stores) -> None:
    async with store.unit() as unit:
        await unit.rows(PostedCard).put(a_card("1"))
        assert await unit.rows(PostedCard).get(a_card("1").id) == a_card("1")
        assert list(await unit.rows(PostedCard).find(row_id="1")) == [a_card("1")]
        await unit.rows(PostedCard).delete(a_card("1").id)
        assert await unit.rows(PostedCard).get(a_card("1").id) is None
        assert list(await unit.rows(PostedCard).find()) == []


async def test_a_put_replaces_the_whole_row(store: Stores) -> None:
    async with store.unit() as unit:
        await unit.rows(PostedCard).put(a_card("1", error="archived"))
    async with store.unit() as unit:
        await unit.rows(PostedCard).put(a_card("1", message_id="1.0"))
    async with store.unit() as unit:
        assert list(await unit.rows(PostedCard).find()) == [a_card("1", message_id="1.0")]


async def test_an_error_rolls_everything_back(store: Stores) -> None:
    async with store.unit() as unit:
        await unit.rows(HandledRequest).put(a_handled_request("kept"))
        assert await unit.next_number("incident") == 1

    async def fail() -> None:
        async with store.unit() as unit:
            await unit.rows(PostedCard).put(a_card())
            await unit.rows(HandledRequest).delete("kept")
            await unit.rows(HandledRequest).find()
            assert await unit.next_number("incident") == 2
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await fail()
    async with store.unit() as unit:
        assert list(await unit.rows(PostedCard).find()) == []
        assert list(await unit.rows(HandledRequest).find()) == [a_handled_request("kept")]
        assert await unit.next_number("incident") == 2


async def test_rows_come_in_the_order_of_their_first_put(store: Stores) -> None:
    for id in ("c", "a", "b"):
        async with store.unit() as unit:
            await unit.rows(HandledRequest).put(a_handled_request(id))
    async with store.unit() as unit:
        await unit.rows(HandledRequest).put(a_handled_request("d"))
        await unit.rows(HandledRequest).put(
            a_handled_request("c", at=NOON + MINUTE)
        )  # a change does not move it
        assert [row.id for row in await unit.rows(HandledRequest).find()] == ["c", "a", "b", "d"]
        assert [row.id for row in await unit.rows(HandledRequest).find(newest=True, limit=2)] == ["d", "b"]


async def test_a_row_that_is_deleted_and_put_again_is_the_newest(store: Stores) -> None:
    async with store.unit() as unit:
        for id in ("a", "b"):
            await unit.rows(HandledRequest).put(a_handled_request(id))
    async with store.unit() as unit:
        await unit.rows(HandledRequest).delete("a")
        await unit.rows(HandledRequest).put(a_handled_request("a"))
    async with store.unit() as unit:
        assert [row.id for row in await unit.rows(HandledRequest).find()] == ["b", "a"]


async def test_a_row_is_added_once(store: Stores) -> None:
    async with store.unit() as unit:
        assert await unit.rows(HandledRequest).add(a_handled_request("g"))
        assert not await unit.rows(HandledRequest).add(a_handled_request("g", at=NOON + MINUTE))
    async with store.unit() as unit:
        assert not await unit.rows(HandledRequest).add(a_handled_request("g", at=NOON + MINUTE))
        assert await unit.rows(HandledRequest).get("g") == a_handled_request("g")


@pytest.mark.parametrize("value", [inf, -inf, 0.1 + 0.2], ids=str)
async def test_values_of_any_size_are_stored(store: Stores, value: float) -> None:
    async with store.unit() as unit:
        await unit.rows(Alert).put(an_alert(value=value))
    async with store.unit() as unit:
        assert await unit.rows(Alert).get(an_alert().id) == an_alert(value=value)


async def test_nan_is_stored(store: Stores) -> None:
    async with store.unit() as unit:
        await unit.rows(Alert).put(an_alert("gpu-名字", value=nan))
    async with store.unit() as unit:
        (stored,) = await unit.rows(Alert).find()
    assert isnan(stored.value)
    assert stored.labels["node"] == "gpu-名字"


async def test_text_in_any_script_is_stored(store: Stores) -> None:
    written = '显卡掉线 🔥 it\'s "quoted" \\ back\nline; DROP TABLE cards'
    async with store.unit() as unit:
        await unit.rows(ThreadReply).put(a_line(a_card("显卡'\"--"), "事件", said=written))
    async with store.unit() as unit:
        (line,) = await unit.rows(ThreadReply).find(card=a_card("显卡'\"--").id)
    assert line == a_line(a_card("显卡'\"--"), "事件", said=written)


async def test_each_name_has_its_own_numbers(store: Stores) -> None:
    async with store.unit() as unit:
        assert [await unit.next_number("incident") for _ in range(3)] == [1, 2, 3]
        assert await unit.next_number("plan") == 1
    async with store.unit() as unit:
        assert await unit.next_number("incident") == 4


async def test_units_wait_for_each_other(store: Stores) -> None:
    async def count_up() -> None:
        async with store.unit() as unit:
            found = await unit.rows(HandledRequest).get("count")
            at = found.at if found else NOON
            await asyncio.sleep(0)
            await unit.rows(HandledRequest).put(a_handled_request("count", at=at + MINUTE))

    async with asyncio.TaskGroup() as tasks:
        for _ in range(10):
            tasks.create_task(count_up())
    async with store.unit() as unit:
        assert await unit.rows(HandledRequest).get("count") == a_handled_request(
            "count", at=NOON + 10 * MINUTE
        )


async def test_a_nested_unit_is_an_error_and_not_a_deadlock(store: Stores) -> None:
    async with store.unit() as unit:
        await unit.rows(HandledRequest).put(a_handled_request())
        with pytest.raises(RuntimeError, match="units do not nest"):
            async with store.unit():
                pytest.fail("the inner unit was opened")
    async with store.unit() as unit:
        assert await unit.rows(HandledRequest).get("g1") is not None


async def test_listeners_get_the_changes_after_the_commit(store: Stores) -> None:
    changes: list[Changed] = []
    stop = store.listen(changes.append)
    async with store.unit() as unit:
        await unit.rows(PostedCard).put(a_card("1"))
        await unit.rows(HandledRequest).find()
        await unit.rows(HandledRequest).delete("unknown")
        assert changes == []
    assert changes == [{"cards": {a_card("1").id: a_card("1")}}]
    with suppress(ZeroDivisionError):
        async with store.unit() as unit:
            await unit.rows(PostedCard).put(a_card("2"))
            raise ZeroDivisionError
    async with store.unit() as unit:
        await unit.rows(PostedCard).get(a_card("1").id)
    stop()
    async with store.unit() as unit:
        await unit.rows(PostedCard).put(a_card("3"))
    assert len(changes) == 1


async def test_listeners_get_nothing_from_a_unit_that_is_cancelled(store: Stores) -> None:
    changes: list[Changed] = []
    store.listen(changes.append)
    entered = asyncio.Event()

    async def stuck() -> None:
        async with store.unit() as unit:
            await unit.rows(PostedCard).put(a_card())
            entered.set()
            await asyncio.Event().wait()

    async with asyncio.TaskGroup() as tasks:
        task = tasks.create_task(stuck())
        await entered.wait()
        task.cancel()
    assert changes == []


async def test_old_rows_are_pruned_and_the_rest_stays(store: Stores) -> None:
    old, new = NOON, NOON + timedelta(days=30)
    expired = a_card("old", is_final=True, posted_at=old)
    fresh = a_card("new", is_final=True, posted_at=new)
    live = a_card("live", posted_at=old)
    async with store.unit() as unit:
        for card in (expired, fresh, live):
            await unit.rows(PostedCard).put(card)
            await unit.rows(ThreadReply).put(a_line(card, at=old))
        await unit.rows(Alert).put(an_alert("a", state=AlertState.RESOLVED, at=old))
        await unit.rows(Alert).put(an_alert("b", state=AlertState.FIRING, at=old))
        await unit.rows(HandledRequest).put(a_handled_request("g", at=old))
        await unit.rows(AuditEntry).put(an_audit_entry(at=old))
    assert await store.prune(old + MINUTE) == {"cards": 1, "replies": 1, "alerts": 1, "handled_requests": 1}
    async with store.unit() as unit:
        assert list(await unit.rows(PostedCard).find()) == [fresh, live]
        assert [line.card for line in await unit.rows(ThreadReply).find()] == [fresh.id, live.id]
        assert [alert.labels["node"] for alert in await unit.rows(Alert).find()] == ["b"]
        assert len(await unit.rows(AuditEntry).find()) == 1


async def test_a_cancelled_unit_leaves_nothing_and_the_next_one_works(store: Stores) -> None:
    entered = asyncio.Event()

    async def stuck() -> None:
        async with store.unit() as unit:
            await unit.rows(PostedCard).put(a_card())
            await unit.rows(PostedCard).find()
            entered.set()
            await asyncio.Event().wait()

    async with asyncio.TaskGroup() as tasks:
        task: asyncio.Task[Any] = tasks.create_task(stuck())
        await entered.wait()
        task.cancel()
    async with store.unit() as unit:
        assert list(await unit.rows(PostedCard).find()) == []
        assert list(await unit.rows(PostedCard).find()) == []


async def test_a_row_that_cannot_be_decoded_is_skipped_and_reported(tmp_path: Path) -> None:
    counts: list[str] = []
    url = f"sqlite+aiosqlite:///{tmp_path / 'yard.db'}"
    store = await SqlStore.open(url, errors=InternalErrors(counts.append))
    async with store.unit() as unit:
        for name in ("1", "2"):
            await unit.rows(PostedCard).put(a_card(name))
    with sqlite3.connect(tmp_path / "yard.db") as raw:
        raw.execute("UPDATE cards SET document = '{}' WHERE row_id = '1'")
    raw.close()
    with capture_logs() as logs:
        async with store.unit() as unit:
            assert list(await unit.rows(PostedCard).find()) == [a_card("2")]
    await store.close()
    assert counts == ["row"]
    assert [(log["table"], log["id"]) for log in logs] == [("cards", a_card("1").id)]
