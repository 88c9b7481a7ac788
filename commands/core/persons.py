"""Persons: which ids are one person's. Rows name a person by one of their ids."""

from typing import Protocol

TOKEN = "token"  # with that of automation, the kinds of ids that no chat has


class Persons(Protocol):
    """The persons and their ids: `slack:U0123456`, `token:ci`. An id that is not listed is a person of its own."""

    def person_of(self, id: str) -> str:
        """Return the person behind an id, or behind the id of a chat's own person without its kind."""
        ...

    def ids_of(self, person: str) -> frozenset[str]:
        """Return all ids of the person with this id, itself included."""
        ...


class EachTheirOwn:
    """Every id is a person of its own."""

    def person_of(self, id: str) -> str:
        return id

    def ids_of(self, person: str) -> frozenset[str]:
        return frozenset({person})
