"""The delivery journal: each change of a card's or a reply's row.

Changes that are waiting at the same time are one unit, or many posts at once would wait for each other's commit. Rows
are read again in the unit, because others may have changed them; the entry follows the stored row.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from alerts.cards.posted import PostedCard, ThreadReply
from alerts.store import Store, Unit
from bot.cards.card_catalogue import CardCatalogue
from bot.delivery.card_entries import CardEntry, ReplyEntry
from bot.delivery.notifier_protocol import UnknownOutcome
from collectors.facts.sentences import sentence


@dataclass(eq=False, slots=True)
class _Change:
    apply: Callable[[Unit], Awaitable[None]]
    is_stored: bool = field(default=False)


class DeliveryJournal:
    def __init__(self, store: Store, catalogue: CardCatalogue) -> None:
        self._store = store
        self._catalogue = catalogue
        self._waiting: list[_Change] = []
        self._turn = asyncio.Lock()

    async def save_card(self, entry: CardEntry, **changes: Any) -> bool:
        """Change the card's row. Return False when it is gone: then nothing must be posted."""

        async def change(row: PostedCard, unit: Unit) -> None:
            entry.card = replace(row, **changes)
            if entry.card != row:
                await unit.rows(PostedCard).put(entry.card)

        return await self._with_row(entry, change)

    async def save_replies(self, entry: CardEntry, several: Sequence[ReplyEntry], **changes: Any) -> bool:
        """Change the rows of replies that one message says; posted ones leave the entry.

        Return False when a row is gone: then nothing must be posted.
        """
        lost: list[ReplyEntry] = []

        async def apply(unit: Unit) -> None:
            rows = await unit.rows(ThreadReply).get_all(one.reply.id for one in several)
            lost[:] = [one for one in several if one.reply.id not in rows]
            for one in several:
                if one not in lost:
                    one.reply = replace(rows[one.reply.id], **changes)
                    await unit.rows(ThreadReply).put(one.reply)

        await self._commit(apply)
        entry.keep_posted(one for one in several if one in lost or one.reply.message_id)
        return not lost

    async def drop_reply(self, entry: CardEntry, one: ReplyEntry) -> None:
        """Delete a reply that is not needed any more."""

        async def apply(unit: Unit) -> None:
            await unit.rows(ThreadReply).delete(one.reply.id)

        await self._commit(apply)
        entry.replies = [other for other in entry.replies if other is not one]

    async def worded(self, reply: ThreadReply) -> ThreadReply:
        """Return the reply with its words as of now. Raises UnknownOutcome."""
        if not reply.event:
            return reply
        reply = replace(reply, text=(), buttons=())  # of an earlier attempt
        try:
            async with self._store.read() as snapshot:
                return await self._catalogue.compose_reply(reply, snapshot)
        except Exception as error:  # one reply's bug must not stop the others
            raise UnknownOutcome(sentence("composing failed: {error}", error=type(error).__name__)) from error

    async def fold_replies(self, entry: CardEntry) -> None:
        """Take the card's message for that of its replies, in a channel without threads."""
        said, where = list(entry.replies), entry.card.message_id
        error = "" if where else sentence("its card was never posted")

        async def apply(unit: Unit) -> None:
            rows = await unit.rows(ThreadReply).get_all(one.reply.id for one in said)
            for row in rows.values():
                await unit.rows(ThreadReply).put(replace(row, message_id=where, error=error))

        await self._commit(apply)
        entry.replies = [one for one in entry.replies if one not in said]

    async def compose_again(self, entry: CardEntry, now: datetime) -> bool:
        """Compose what a card shows as of now. Return False when its row is gone: then nothing must be posted."""

        async def compose(row: PostedCard, unit: Unit) -> None:
            entry.card = row
            try:
                composed = await self._catalogue.compose(row, unit, now)
            except Exception:  # the desired state reports it; what it composed last is posted
                return
            entry.show(composed, now)

        return await self._with_row(entry, compose)

    async def _with_row(
        self, entry: CardEntry, change: Callable[[PostedCard, Unit], Awaitable[None]]
    ) -> bool:
        """Call `change` with the card's row. Without one the entry is final: return False."""
        is_stored = False

        async def apply(unit: Unit) -> None:
            nonlocal is_stored
            row = await unit.rows(PostedCard).get(entry.card.id)
            is_stored = row is not None
            if row is None:
                entry.card = replace(entry.card, is_final=True)
                entry.replies.clear()
            else:
                await change(row, unit)

        await self._commit(apply)
        return is_stored

    async def finalize(self, entry: CardEntry, now: datetime, *, by_edits: bool) -> None:
        """Mark the card as final, if it still composes as final in this unit. Raises UnknownOutcome.

        `by_edits`: whether its channel can be edited, so that the figures have to be the last ones, too.
        """
        failure: Exception | None = None

        async def apply(unit: Unit) -> None:
            nonlocal failure
            row = await unit.rows(PostedCard).get(entry.card.id)
            if row is None:
                entry.card = replace(entry.card, is_final=True)
                return
            try:
                composed = await self._catalogue.compose(row, unit, now)
            except Exception as error:  # one card's bug must not stop the others
                failure = error
                return
            entry.show(composed, now)
            if composed.is_final and (composed.message is None or entry.is_shown(row, by_edits=by_edits)):
                row = replace(row, is_final=True, posted_at=row.posted_at or now)
                await unit.rows(PostedCard).put(row)
            entry.card = row

        await self._commit(apply)
        if failure is not None:
            raise UnknownOutcome(
                sentence("composing failed: {error}", error=type(failure).__name__)
            ) from failure

    async def _commit(self, apply: Callable[[Unit], Awaitable[None]]) -> None:
        """Return when the change is stored, with all that waited beside it. Raises the store's errors."""
        mine = _Change(apply)
        self._waiting.append(mine)
        try:
            async with self._turn:
                if mine.is_stored:
                    return
                batch = list(self._waiting)
                async with self._store.unit() as unit:
                    for change in batch:
                        await change.apply(unit)
                for change in batch:
                    change.is_stored = True
                self._waiting = [change for change in self._waiting if not change.is_stored]
        finally:  # one that fails or is cancelled takes nobody's change along
            self._waiting = [change for change in self._waiting if change is not mine]
