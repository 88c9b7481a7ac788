"""This file keeps what was told: each change of a card's or a line's row, in a unit of its own.

Rows are read again in the unit, for others may have changed them; the entry follows what is on disk.
"""

from dataclasses import replace
from datetime import datetime
from typing import Any

from bot.delivery.card_entries import CardEntry, Composers, ReplyEntry, digest_of
from bot.delivery.notifier_protocol import UnknownOutcome
from commands.store import Store


class DeliveryJournal:
    def __init__(self, store: Store, composers: Composers) -> None:
        self._store = store
        self._composers = composers

    async def save_card(self, entry: CardEntry, **changes: Any) -> bool:
        """Change the card's row. False when somebody took it away: then nothing is to be told."""
        async with self._store.unit() as unit:
            row = await unit.cards.get(entry.card.id)
            if row is None:
                entry.card = replace(entry.card, is_final=True)
                entry.replies.clear()
                return False
            changed = replace(row, **changes)
            if changed != row:
                await unit.cards.put(changed)
            entry.card = changed
        return True

    async def save_reply(self, entry: CardEntry, one: ReplyEntry, **changes: Any) -> bool:
        """Change a line's row; a line that was told leaves the entry. False when somebody took it away."""
        async with self._store.unit() as unit:
            row = await unit.replies.get(one.reply.id)
            if row is not None:
                one.reply = replace(row, **changes)
                await unit.replies.put(one.reply)
        if row is None or one.reply.message_id:
            entry.replies = [other for other in entry.replies if other is not one]
        return row is not None

    async def finalize(self, entry: CardEntry, now: datetime) -> None:
        """Mark the card as said and done, if that is still so in this very unit. Raises InDoubt."""
        async with self._store.unit() as unit:
            row = await unit.cards.get(entry.card.id)
            if row is None:
                entry.card = replace(entry.card, is_final=True)
                return
            try:
                composed = await self._composers[row.kind](row, unit, now)
            except Exception as error:  # one card's bug must not silence the others
                raise UnknownOutcome(f"composing broke: {type(error).__name__}") from error
            entry.desired, entry.due = composed, composed.due_after(now)
            entry.digest = "" if composed.message is None else digest_of(composed.message)
            if composed.is_final and (
                composed.message is None or (row.message_id and row.digest == entry.digest)
            ):
                row = replace(row, is_final=True, posted_at=row.posted_at or now)
                await unit.cards.put(row)
            entry.card = row
