"""The inbox of alerts: what was accepted from a sender before its effects are stored, and how far they are.

An accepted body has a number. Its effects are committed together with the mark of their cluster, so a body that is
found in the inbox again, after a crash, is not counted twice.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from alerts.store import stored

Numbered = tuple[int, bytes]  # a body, and its number


class BodyStore(Protocol):
    """Where accepted bodies are kept. Its methods raise StoreError."""

    async def append(self, bodies: Sequence[Numbered]) -> None:
        """Store the bodies, all or none; return when no crash can lose them."""
        ...

    async def read(self) -> Sequence[Numbered]:
        """Return all that is there, by number."""
        ...

    async def drop(self, last: int) -> None:
        """Delete the bodies up to this number."""
        ...


@stored("inbox_marks", "cluster")
@dataclass(frozen=True, slots=True, kw_only=True)
class InboxMark:
    """Up to which body of the inbox the effects on this cluster are stored."""

    cluster: str
    number: int

    @property
    def id(self) -> str:
        return self.cluster
