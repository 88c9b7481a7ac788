"""The file in which accepted bodies are kept: it survives its process, and waits for no unit of the store."""

from pathlib import Path

import pytest

from alerts.store import StoreError
from bot.store.inbox_file import InboxFile
from bot.store.sql_store import SqlStore
from bot.store.store_file import StoreGoneError
from commands.models import HandledRequest
from tests.support.rows import a_handled_request


def _url(folder: Path) -> str:
    return f"sqlite+aiosqlite:///{folder / 'yard.db'}"


async def _opened(folder: Path) -> InboxFile:
    found = await InboxFile.open(_url(folder))
    assert found is not None
    return found


async def test_bodies_are_there_for_the_next_process_until_they_are_dropped(tmp_path: Path) -> None:
    first = await _opened(tmp_path)
    await first.append([(1, b"one"), (2, b"two")])
    await first.append([(7, b"seven")])
    await first.close()
    second = await _opened(tmp_path)
    assert list(await second.read()) == [(1, b"one"), (2, b"two"), (7, b"seven")]
    await second.drop(2)
    assert list(await second.read()) == [(7, b"seven")]
    await second.close()


async def test_a_body_is_kept_while_a_unit_of_the_store_is_open(tmp_path: Path) -> None:
    store, bodies = await SqlStore.open(_url(tmp_path)), await _opened(tmp_path)
    async with store.unit() as unit:
        await unit.rows(HandledRequest).put(a_handled_request())
        await unit.rows(HandledRequest).find()
        await bodies.append([(1, b"one")])
        assert list(await bodies.read()) == [(1, b"one")]
    await bodies.close()
    await store.close()


async def test_nothing_is_kept_in_a_file_that_was_deleted(tmp_path: Path) -> None:
    bodies = await _opened(tmp_path)
    (tmp_path / "yard.db.inbox").unlink()
    with pytest.raises(StoreGoneError, match=r"yard\.db\.inbox was deleted"):
        await bodies.append([(1, b"one")])
    await bodies.close()


async def test_a_damaged_file_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    file = tmp_path / "yard.db.inbox"
    file.write_text("a plain text file\n" * 100, encoding="utf-8")
    with pytest.raises(StoreError, match=r"yard\.db\.inbox cannot be opened: file is not a database"):
        await InboxFile.open(_url(tmp_path))
    assert file.read_text(encoding="utf-8").startswith("a plain")


async def test_a_store_that_is_not_a_file_has_no_file_beside_it() -> None:
    assert await InboxFile.open("postgresql+asyncpg://user@host/yard") is None
