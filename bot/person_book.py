"""The book of persons: which ids the settings join, and by which of them rows name each person."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from alerts.cards.channel_id import channel_id, kind_and_name
from alerts.store import Store, Unit
from commands.core.persons import TOKEN
from commands.core.request import Actor
from commands.models import Person

CHAT = "slack"  # the kind of chat in which people write to us


class PersonBook:
    """Persons by their ids. `chat` is the kind of channel whose ids people may write without it."""

    def __init__(self, persons: Iterable[Person] = (), *, chat: str = CHAT) -> None:
        self._chat = chat
        self._persons = {id: person for person in persons for id in person.ids}

    def person_of(self, id: str) -> str:
        """Return the person behind an id. One without a kind is a chat's."""
        whole = qualified(id, self._chat)
        found = self._persons.get(whole)
        return found.id if found else whole

    def ids_of(self, person: str) -> frozenset[str]:
        found = self._persons.get(person)
        return frozenset(found.ids) if found else frozenset({person})

    def identified(self, actor: Actor, kind: str) -> Actor:
        """Return the actor, who came by an id of this kind, as the person that they are."""
        person = self.person_of(channel_id(kind, actor.id))
        return replace(actor, person=person, ids=self.ids_of(person))


def qualified(id: str, kind: str) -> str:
    """Return the id with its kind: this one, if it has none."""
    return id if kind_and_name(id)[0] or not id else channel_id(kind, id)


async def open_person_book(store: Store, listed: Mapping[str, Sequence[str]]) -> PersonBook:
    """Return the persons, with their ids as the settings list them now."""
    async with store.unit() as unit:
        return PersonBook(await persons_by(listed, unit))


async def persons_by(settings: Mapping[str, Sequence[str]], unit: Unit) -> list[Person]:
    """Return all persons, with their ids joined as the settings list them, and store those that changed.

    A person keeps the id by which rows name them: that of a row of theirs, else their first id in a chat. Who was a
    person of their own before is found by that id too. An id that is no longer listed is a person of its own again.
    """
    rows = unit.rows(Person)
    stored = {person.id: person for person in await rows.find()}
    listed = {id for ids in settings.values() for id in ids}
    wanted: dict[str, Person] = {}
    for name, ids in settings.items():
        id = _id_in_rows(ids, stored)
        wanted[id] = Person(id=id, ids=(id, *(one for one in ids if one != id)), name=name)
    for person in stored.values():
        if person.id not in listed:
            wanted[person.id] = replace(person, ids=(person.id,))
    for gone in stored.keys() - wanted.keys():
        await rows.delete(gone)
    for person in wanted.values():
        if stored.get(person.id) != person:
            await rows.put(person)
    return list(wanted.values())


def _id_in_rows(ids: Sequence[str], stored: Mapping[str, Person]) -> str:
    """Return the id by which rows name the person with these ids."""
    of_chats = [id for id in ids if kind_and_name(id)[0] != TOKEN]
    joined = [id for id in ids if id in stored and len(stored[id].ids) > 1]
    return (joined or [id for id in of_chats if id in stored] or of_chats or list(ids))[0]
