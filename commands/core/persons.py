"""Persons: which ids are one person's. Rows name a person by one of their ids."""

from typing import Protocol

from alerts.cards.channel_id import channel_id, kind_and_name
from commands.execution.impersonation import AUTOMATION_KIND

TOKEN = "token"  # with AUTOMATION_KIND, the kinds of ids that no chat has


def automation_id(name: str) -> str:
    """Return how rows name an automation."""
    return channel_id(AUTOMATION_KIND, name)


def is_automation(id: str) -> bool:
    """Whether rows name an automation by this id."""
    return kind_and_name(id)[0] == AUTOMATION_KIND


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
