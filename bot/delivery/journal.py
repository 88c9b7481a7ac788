"""The delivery journal: each change of a card's or a reply's row, in a unit of its own.

Rows are read again in the unit, because others may have changed them; the entry follows the stored row.
"""

from dataclasses import replace
from datetime import datetime
from typing import Any

from alerts.cards.posted import PostedCard, ThreadReply
from alerts.store import Store
from bot.cards.card_catalogue import CardCatalogue
from bot.delivery.card_entries import CardEntry, ReplyEntry, digest_of
from bot.delivery.notifier_protocol import UnknownOutcome


class DeliveryJournal:
    def __init__(self, store: Store, catalogue: CardCatalogue) -> None:
        self._store = store
        self._catalogue = catalogue

    async def save_card(self, entry: CardEntry, **changes: Any) -> bool:
        """Change the card's row. Return False when it is gone: then nothing must be posted."""
        async with self._store.unit() as unit:
            row = await unit.rows(PostedCard).get(entry.card.id)
            if row is None:
                entry.card = replace(entry.card, is_final=True)
                entry.replies.clear()
                return False
            changed = replace(row, **changes)
            if changed != row:
                await unit.rows(PostedCard).put(changed)
            entry.card = changed
        return True

    async def save_reply(self, entry: CardEntry, one: ReplyEntry, **changes: Any) -> bool:
        """Change a reply's row; a posted reply leaves the entry. Return False when the row is gone."""
        async with self._store.unit() as unit:
            row = await unit.rows(ThreadReply).get(one.reply.id)
            if row is not None:
                one.reply = replace(row, **changes)
                await unit.rows(ThreadReply).put(one.reply)
        if row is None or one.reply.message_id:
            entry.replies = [other for other in entry.replies if other is not one]
        return row is not None

    async def finalize(self, entry: CardEntry, now: datetime) -> None:
        """Mark the card as final, if it still composes as final in this unit. Raises UnknownOutcome."""
        async with self._store.unit() as unit:
            row = await unit.rows(PostedCard).get(entry.card.id)
            if row is None:
                entry.card = replace(entry.card, is_final=True)
                return
            try:
                composed = await self._catalogue.compose(row, unit, now)
            except Exception as error:  # one card's bug must not stop the others
                raise UnknownOutcome(f"composing failed: {type(error).__name__}") from error
            entry.desired, entry.due = composed, composed.due_after(now)
            entry.digest = "" if composed.message is None else digest_of(composed.message)
            if composed.is_final and (
                composed.message is None or (row.message_id and row.digest == entry.digest)
            ):
                row = replace(row, is_final=True, posted_at=row.posted_at or now)
                await unit.rows(PostedCard).put(row)
            entry.card = row
