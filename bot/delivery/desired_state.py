"""The desired state of every live card: loaded from rows, marked stale on changes, composed again."""

import asyncio
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from alerts.cards.message import Color, Context, Message
from alerts.cards.posted import CardKind, PostedCard, ThreadReply
from alerts.cards.text import bold, text
from alerts.store import Changed, Store, StoreSnapshot, Unit
from bot.cards.card_catalogue import CardCatalogue
from bot.cards.card_kind import Composed, Everywhere
from bot.delivery.card_entries import CardEntry, ReplyEntry
from bot.delivery.retry import TIMER_TOLERANCE, Attempts
from collectors.facts.sentences import sentence
from collectors.internal_errors import InternalErrors

BATCH_SIZE = 25  # cards read or composed in one transaction
RECOMPOSE_AFTER = 60.0  # seconds, after a composer failed
REPLY_LIFETIME = timedelta(days=1)  # a reply refused for longer is no longer news


class DesiredState:
    """The live cards by id. Rows are read on the first `refresh` and whenever they change."""

    def __init__(self, store: Store, catalogue: CardCatalogue, errors: InternalErrors) -> None:
        self.entries: dict[str, CardEntry] = {}
        self.changed = asyncio.Event()
        self._store = store
        self._catalogue = catalogue
        self._errors = errors
        self._by_row: defaultdict[tuple[CardKind, str], set[str]] = defaultdict(set)  # ids of entries
        self._changed_cards: set[str] = set()
        self._changed_replies: set[str] = set()
        self._is_loaded = False
        self._order = 0

    def mark_changed(self, changed: Changed) -> None:
        """Record which cards depend on the changed rows."""
        self._changed_cards |= changed.get("cards", {}).keys()
        self._changed_replies |= changed.get("replies", {}).keys()
        for table, rows in changed.items():
            for id, row in rows.items():
                self._mark_affected(table, id, row)
        self.changed.set()

    def mark_cluster(self, kind: CardKind, cluster: str) -> None:
        """Record that something beside the store changed what all of a cluster's cards of this kind show."""
        for entry in self.entries.values():
            if entry.card.kind is kind and entry.card.cluster == cluster:
                entry.is_stale = True
        self.changed.set()

    def _mark_affected(self, table: str, id: str, row: Any) -> None:
        for kind, affected in self._catalogue.affected(table, id, row):
            if isinstance(affected, Everywhere):
                self.mark_cluster(kind, affected.cluster)
                continue
            for row_id in affected:
                for card in self._by_row.get((kind, row_id), ()):
                    self.entries[card].is_stale = True

    def drop(self, entry: CardEntry) -> None:
        """Remove a card whose delivery is over."""
        if self.entries.pop(entry.card.id, None) is not None:
            of_row = self._by_row[entry.card.kind, entry.card.row_id]
            of_row.discard(entry.card.id)
            if not of_row:
                del self._by_row[entry.card.kind, entry.card.row_id]

    async def refresh(self, now: datetime, found: Callable[[CardEntry], None] = lambda _entry: None) -> None:
        """Read what changed and compose what is stale. `found` gets each entry as soon as it may have work."""
        self.changed.clear()
        for entry in await self._load(now):
            found(entry)
        stale = [entry for entry in self.entries.values() if self._is_stale(entry, now)]
        for start in range(0, len(stale), BATCH_SIZE):
            batch = stale[start : start + BATCH_SIZE]
            for entry in batch:  # before the snapshot: what is committed from here on makes it stale again
                entry.is_stale, entry.retry_at = False, None
            async with self._store.read() as snapshot:
                for entry in batch:
                    await self._compose(entry, snapshot, now)
            for entry in batch:
                found(entry)

    def next_due(self) -> datetime | None:
        """Return when the next card changes without a change of rows."""
        return min((entry.due for entry in self.entries.values() if entry.due is not None), default=None)

    def next_retry(self) -> float | None:
        """Return the loop time at which the next card that failed is composed again."""
        waiting = (entry for entry in self.entries.values() if not entry.card.is_final)
        return min((entry.retry_at for entry in waiting if entry.retry_at is not None), default=None)

    def _is_stale(self, entry: CardEntry, now: datetime) -> bool:
        is_due = entry.due is not None and entry.due <= now
        soon = asyncio.get_running_loop().time() + TIMER_TOLERANCE
        is_retried = entry.retry_at is not None and entry.retry_at <= soon
        return not entry.card.is_final and (entry.is_stale or is_due or is_retried)

    async def _load(self, now: datetime) -> list[CardEntry]:
        """Read the changed cards and replies, and return their entries: all are known before any has work."""
        cards, replies = self._changed_cards, self._changed_replies
        self._changed_cards, self._changed_replies = set(), set()
        if self._is_loaded and not cards and not replies:
            return []
        if replies or not self._is_loaded:
            async with self._store.read() as snapshot:
                cards |= await self._cards_of(replies, snapshot)
        touched: list[CardEntry] = []
        ids = sorted(cards)
        for start in range(0, len(ids), BATCH_SIZE):
            # In a unit, not a snapshot: meanwhile no worker can store a message id, which the entry would lose.
            async with self._store.unit() as unit:
                touched += await self._load_cards(ids[start : start + BATCH_SIZE], unit, now)
        self._is_loaded = True
        return touched

    async def _cards_of(self, replies: set[str], snapshot: StoreSnapshot) -> set[str]:
        """Return the ids of the cards of these replies; at the start also of all that have something to deliver."""
        changed = await snapshot.rows(ThreadReply).get_all(sorted(replies))
        cards: set[str] = {reply.card for reply in changed.values()}
        if not self._is_loaded:
            cards |= {card.id for card in await snapshot.rows(PostedCard).find(state="live")}
            unposted = await snapshot.rows(ThreadReply).find(state=("pending", "refused"))
            cards |= {reply.card for reply in unposted}
        return cards

    async def _load_cards(self, ids: list[str], unit: Unit, now: datetime) -> list[CardEntry]:
        rows = await unit.rows(PostedCard).get_all(ids)
        parents = await unit.rows(PostedCard).get_all({row.parent for row in rows.values() if row.parent})
        replies: defaultdict[str, list[ThreadReply]] = defaultdict(list)
        for reply in await unit.rows(ThreadReply).find(card=ids):
            replies[reply.card].append(reply)
        loaded = (self._load_card(id, rows.get(id), replies[id], parents, now) for id in ids)
        return [entry for entry in loaded if entry is not None]

    def _load_card(
        self,
        id: str,
        card: PostedCard | None,
        replies: list[ThreadReply],
        parents: Mapping[str, PostedCard],
        now: datetime,
    ) -> CardEntry | None:
        entry = self.entries.get(id)
        if card is None:
            if entry is not None:  # its worker drops it
                entry.card = replace(entry.card, is_final=True)
                entry.replies.clear()
            return entry
        known = {one.reply.id: one for one in entry.replies} if entry is not None else {}
        pending = [one for reply in replies if (one := _reply_entry(reply, known, now)) is not None]
        posted = {one.reply.id: one for one in entry.posted_replies} if entry is not None else {}
        if entry is None:
            if card.is_final and not pending:
                return None
            self._order += 1
            entry = CardEntry(card=card, order=self._order)
            entry.attempts.refused = bool(card.error)
        parent = parents.get(card.parent or "")
        entry.card, entry.parent_message_id = card, parent.message_id if parent is not None else None
        entry.replies = pending
        entry.posted_replies = [_posted_entry(one, posted) for one in replies if one.follows_its_card]
        self.entries[id] = entry
        self._by_row[card.kind, card.row_id].add(id)
        return entry

    async def _compose(self, entry: CardEntry, snapshot: StoreSnapshot, now: datetime) -> None:
        try:
            composed = await self._catalogue.compose(entry.card, snapshot, now)
        except Exception as error:  # one card's bug must not stop the others
            self._note_failure(entry, error)
            return
        entry.failures, before = 0, entry.digest
        entry.show(composed, now)
        if entry.digest != before and entry.attempts.refused:
            entry.attempts = Attempts()  # another message was refused, not this one

    def _note_failure(self, entry: CardEntry, error: Exception) -> None:
        """Add a note to the card that it is not up to date, at the second failure in a row: the first may pass.

        A posted card whose message is not known after a restart stays as it is, and so does one that shows nothing.
        """
        reason = self._errors.contain(error, "card", card=entry.card.id)
        entry.failures += 1
        entry.due = None  # or it would be composed again at once, forever
        entry.retry_at = asyncio.get_running_loop().time() + RECOMPOSE_AFTER
        last = entry.desired
        is_kept = bool(entry.card.message_id) if last is None else last.message is None
        if entry.failures != 2 or is_kept:
            return
        name = f"{entry.card.kind.value.replace('_', ' ')} {entry.card.row_id}"
        unknown = Message(
            title=text(bold(sentence("This card of {about} cannot be shown", about=name))),
            color=Color.WARNING,
        )
        message = last.message if last is not None and last.message is not None else unknown
        note = Context(text=text(sentence("⚠ Not up to date: {reason}", reason=reason)))
        message = replace(message, blocks=(*message.blocks, note))
        entry.show_message(Composed(message=message))


def _posted_entry(reply: ThreadReply, known: dict[str, ReplyEntry]) -> ReplyEntry:
    """Return a posted reply, which may have to be edited, with its attempts so far."""
    entry = known.get(reply.id) or ReplyEntry(reply=reply, known_at=asyncio.get_running_loop().time())
    entry.reply = reply
    return entry


def _reply_entry(reply: ThreadReply, known: dict[str, ReplyEntry], now: datetime) -> ReplyEntry | None:
    """Return the reply with its attempts so far; None when it was posted, or refused for too long.

    One that an earlier process was refused lets others pass, and only its date says how old it is.
    """
    time = asyncio.get_running_loop().time()
    entry = known.get(reply.id)
    age = now - reply.at if entry is None else timedelta(seconds=time - entry.known_at)
    if reply.message_id or (reply.error and age >= REPLY_LIFETIME):
        return None
    if entry is None:
        return ReplyEntry(reply=reply, known_at=time, attempts=Attempts(refused=bool(reply.error)))
    entry.reply = reply
    return entry
