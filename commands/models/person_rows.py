"""Stored rows of persons."""

from dataclasses import dataclass

from alerts.store import stored


@stored("people")
@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """Somebody who does something, whatever the id they come by. Rows name them by `id` or, from before their ids
    were joined in the settings, by another of `ids`. No two rows have an id in common."""

    id: str  # the id under which rows name them
    ids: tuple[str, ...]  # all of them, `id` included
    name: str = ""  # as last shown
