"""Persons: which of their ids rows name them by, as the settings join and part ids."""

from collections.abc import Mapping, Sequence

from bot.person_book import PersonBook, open_person_book
from commands.core.request import Actor
from commands.models import Person
from tests.support.memory_store import MemoryStore

Ids = Mapping[str, Sequence[str]]
DANA: Ids = {"dana": ("token:ops", "slack:U1")}


async def book_of(store: MemoryStore, settings: Ids, *known: Person) -> PersonBook:
    async with store.unit() as unit:
        for person in known:
            await unit.rows(Person).put(person)
    return await open_person_book(store, settings)


async def persons(store: MemoryStore) -> dict[str, set[str]]:
    async with store.read() as snapshot:
        return {person.id: set(person.ids) for person in await snapshot.rows(Person).find()}


def alone(id: str) -> Person:
    return Person(id=id, ids=(id,), name="somebody")


async def test_an_unlisted_id_is_a_person_of_its_own() -> None:
    book = await book_of(MemoryStore(), {})
    came = book.identified(Actor(id="U1", name="dana"), "slack")
    assert (came.id, came.person) == ("U1", "slack:U1")
    assert came.ids == {"slack:U1"}
    assert book.identified(Actor(id="U1", name="dana"), "token").person == "token:U1"


async def test_rows_name_a_person_by_an_id_that_their_chat_can_mention() -> None:
    book = await book_of(MemoryStore(), DANA)
    for id, kind in (("U1", "slack"), ("ops", "token")):
        assert book.identified(Actor(id=id, name="x"), kind).person == "slack:U1"
    assert book.person_of("U1") == "slack:U1"
    assert book.ids_of("slack:U1") == {"slack:U1", "token:ops"}


async def test_two_persons_that_are_merged_are_one_and_found_by_both_ids() -> None:
    store = MemoryStore()
    book = await book_of(store, DANA, alone("slack:U1"), alone("token:ops"), alone("slack:U2"))
    assert await persons(store) == {"slack:U1": {"slack:U1", "token:ops"}, "slack:U2": {"slack:U2"}}
    dana = book.identified(Actor(id="U1", name="dana"), "slack")
    assert dana.is_one("token:ops")
    assert dana.is_one("slack:U1")
    assert not dana.is_one("slack:U2")
    assert not dana.is_one("")


async def test_another_order_of_the_ids_is_the_same_person() -> None:
    store = MemoryStore()
    await book_of(store, {"dana": ("slack:U1", "slack:U3")})
    book = await book_of(store, {"dana lee": ("slack:U3", "token:ops", "slack:U1")})
    assert book.person_of("slack:U3") == "slack:U1"
    assert await persons(store) == {"slack:U1": {"slack:U1", "slack:U3", "token:ops"}}


async def test_an_id_that_is_no_longer_listed_is_its_own_person_again() -> None:
    store = MemoryStore()
    await book_of(store, DANA)
    book = await book_of(store, {})
    assert book.person_of("token:ops") == "token:ops"
    assert book.ids_of("slack:U1") == {"slack:U1"}


async def test_an_id_goes_over_to_another_person() -> None:
    store = MemoryStore()
    await book_of(store, DANA)
    book = await book_of(store, {"dana": ("slack:U1",), "eli": ("slack:U2", "token:ops")})
    assert book.person_of("token:ops") == "slack:U2"
    assert book.ids_of("slack:U1") == {"slack:U1"}


async def test_nothing_is_written_where_nothing_changed() -> None:
    store = MemoryStore()
    await book_of(store, DANA)
    changes: list[object] = []
    store.listen(changes.append)
    await book_of(store, DANA)
    assert changes == []
