"""Rows are found by their columns, by ranges and page by page, in every store."""

from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy.engine import make_url

from alerts.alert import Alert
from alerts.cards.posted import PostedCard
from alerts.lifecycle import AlertState
from alerts.store import TABLES, Between
from bot.store.backends.backend_catalogue import backend_of
from bot.store.sql_schema import sql_table
from commands.models import HandledRequest
from tests.bot.store.test_contract import MINUTE, Stores
from tests.support.rows import NOON, a_card, a_handled_request, an_alert


@pytest.mark.parametrize("column", TABLES["cards"].columns)
async def test_rows_are_found_by_each_column(store: Stores, column: str) -> None:
    card = a_card("1", channel="C1")
    other = replace(a_card("2", channel="C2", is_final=True), cluster="other", kind=card.kind)
    async with store.unit() as unit:
        await unit.rows(PostedCard).put(card)
        await unit.rows(PostedCard).put(other)
        query: dict[str, Any] = {column: TABLES["cards"].read(card)[column]}
        found = list(await unit.rows(PostedCard).find(**query))
        assert found == ([card, other] if column == "kind" else [card])
        unknown: dict[str, Any] = {column: "unknown"}
        assert list(await unit.rows(PostedCard).find(**unknown)) == []


async def test_rows_are_found_by_one_of_any_number_of_values(store: Stores) -> None:
    cards = [a_card(str(number), channel="C1") for number in range(3)]
    async with store.unit() as unit:
        for card in cards:
            await unit.rows(PostedCard).put(card)
    many = [f"n{number}" for number in range(40_000)]  # more than a database has parameters
    quoted = ['"', "'", "\\", "é", ""]
    async with store.unit() as unit:
        rows = unit.rows(PostedCard)
        assert await rows.find(row_id=[*many, *quoted, "0", "2"], channel="C1") == [cards[0], cards[2]]
        assert list(await rows.find(row_id=[*many, "1"], newest=True, limit=1)) == [cards[1]]
        assert list(await rows.find(row_id=())) == []
        assert await rows.get_all([*many, *quoted, cards[1].id]) == {cards[1].id: cards[1]}
        assert await rows.get_all(()) == {}


def test_one_of_is_one_parameter_in_every_database() -> None:
    column = sql_table("cards").c.row_id
    sql = {}
    for backend in map(backend_of, ("sqlite+aiosqlite://", "postgresql+asyncpg://")):
        dialect = make_url(backend.url).get_dialect()()
        sql[dialect.name] = str(backend.one_of(column, ["a", "b"]).compile(dialect=dialect))
    assert sql["sqlite"].count("?") == 1
    assert "FROM json_each(?)" in sql["sqlite"]
    assert sql["postgresql"] == "cards.row_id = ANY ($1::TEXT[])"


async def test_rows_are_found_by_the_changed_column(store: Stores) -> None:
    firing = an_alert()
    resolved = replace(firing, life=replace(firing.life, state=AlertState.RESOLVED))
    async with store.unit() as unit:
        await unit.rows(Alert).put(firing)
    async with store.unit() as unit:
        await unit.rows(Alert).put(resolved)
    async with store.unit() as unit:
        assert list(await unit.rows(Alert).find(state="firing")) == []
        assert list(await unit.rows(Alert).find(state=AlertState.RESOLVED, rule=firing.rule)) == [resolved]


async def test_find_has_no_hidden_limit(store: Stores) -> None:
    async with store.unit() as unit:
        for number in range(1100):
            await unit.rows(HandledRequest).put(a_handled_request(str(number)))
        assert len(await unit.rows(HandledRequest).find()) == 1100


async def test_rows_are_found_by_one_of_several_values(store: Stores) -> None:
    async with store.unit() as unit:
        for number in "123":
            await unit.rows(PostedCard).put(a_card(number))
        found = await unit.rows(PostedCard).find(row_id=("1", "3"))
        assert [card.row_id for card in found] == ["1", "3"]
        assert list(await unit.rows(PostedCard).find(row_id=())) == []


async def test_rows_are_found_by_a_range(store: Stores) -> None:
    async with store.unit() as unit:
        for number in range(4):
            await unit.rows(HandledRequest).put(a_handled_request(str(number), at=NOON + number * MINUTE))

    async def ids(between: Between) -> list[str]:
        async with store.unit() as unit:
            return [row.id for row in await unit.rows(HandledRequest).find(at=between)]

    assert await ids(Between(start=NOON + MINUTE, end=NOON + 3 * MINUTE)) == ["1", "2"]
    assert await ids(Between(start=NOON + 2 * MINUTE)) == ["2", "3"]
    assert await ids(Between(end=NOON + MINUTE)) == ["0"]


async def test_rows_are_found_page_by_page(store: Stores) -> None:
    async with store.unit() as unit:
        for id in ("c", "a", "b", "d"):
            await unit.rows(HandledRequest).put(a_handled_request(id))

    async def page(after: str, *, newest: bool = False) -> list[str]:
        async with store.unit() as unit:
            rows = await unit.rows(HandledRequest).find(limit=2, after=after, newest=newest)
            return [row.id for row in rows]

    assert [await page(""), await page("a"), await page("d")] == [["c", "a"], ["b", "d"], []]
    assert [await page("", newest=True), await page("b", newest=True)] == [["d", "b"], ["a", "c"]]


async def test_an_unknown_column_is_named(store: Stores) -> None:
    async with store.unit() as unit:
        with pytest.raises(ValueError, match="cards has no column colour: use cluster, state"):
            await unit.rows(PostedCard).find(colour="red")
