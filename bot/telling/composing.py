"""This file has how a card's wanted view is asked for: one composer for each kind of card."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from hashlib import blake2b

import msgspec

from alerts.cards.message import Message
from alerts.cards.posted import CardKind, PostedCard
from commands.stores import Unit


@dataclass(frozen=True, slots=True, kw_only=True)
class Composed:
    """What a card should show now: None for nothing. `next_due` is when that changes without any row changing."""

    message: Message | None
    is_final: bool = False  # nothing more will ever be said
    next_due: datetime | None = None

    def due_after(self, now: datetime) -> datetime | None:
        """When it is to be composed again; what is past counts no more, or it would be waited for without a pause."""
        return self.next_due if self.next_due is not None and self.next_due > now else None


Composer = Callable[[PostedCard, Unit, datetime], Awaitable[Composed]]
Composers = Mapping[CardKind, Composer]


def digest_of(view: Message) -> str:
    """16 hex digits over all that the view says."""
    return blake2b(msgspec.json.encode(view), digest_size=8).hexdigest()
