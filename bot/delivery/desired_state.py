"""This file keeps the picture of what is to be told: loads rows, notes what changed, composes what is stale."""

import asyncio
from dataclasses import replace
from datetime import datetime, timedelta

import structlog

from alerts.cards.posted import CardId, ThreadReply
from bot.delivery.card_entries import CardEntry, Composers, ReplyEntry, digest_of
from bot.delivery.retry import Attempts
from bot.store.unit import Changed
from commands.store import Store, Unit

log = structlog.get_logger(__name__)

ALL = 1_000_000
AT_ONCE = 25  # cards composed in a unit: others wait for it
QUIET_TABLES = frozenset(
    {"alerts", "audit", "handled_requests", "agenda", "replies", "cards"}
)  # no card is composed from them
EXACT_TABLES = frozenset({"incidents"})  # a row changes only the cards `of` it
RECOMPOSE_AFTER = timedelta(minutes=1)  # after a composer failed
REPLY_LIFETIME = timedelta(days=1)  # a line that was refused so long is not news any more


class DesiredState:
    """The live cards by id. Rows are read at the first `refresh` and whenever they change."""

    def __init__(self, store: Store, composers: Composers) -> None:
        self.entries: dict[str, CardEntry] = {}
        self.changed = asyncio.Event()
        self._store = store
        self._composers = composers
        self._changed_cards: set[str] = set()
        self._changed_replies: set[str] = set()
        self._is_loaded = False
        self._order = 0

    def mark_changed(self, changed: Changed) -> None:
        """Rows changed: remember what that makes stale."""
        self._changed_cards |= changed.get("cards", frozenset())
        self._changed_replies |= changed.get("replies", frozenset())
        loud = {table: ids for table, ids in changed.items() if table not in QUIET_TABLES}
        for entry in self.entries.values():
            if any(table not in EXACT_TABLES or entry.card.row_id in ids for table, ids in loud.items()):
                entry.is_stale = True
        self.changed.set()

    def drop(self, entry: CardEntry) -> None:
        """Forget a card that is told to its end, unless it is news again."""
        self.entries.pop(entry.card.id, None)

    async def refresh(self, now: datetime) -> set[str]:
        """Read what changed and compose what is stale. Gives the channels where something may be to do."""
        self.changed.clear()
        touched = await self._load(now)
        stale = [entry for entry in self.entries.values() if self._is_stale(entry, now)]
        for start in range(0, len(stale), AT_ONCE):
            async with self._store.unit() as unit:
                for entry in stale[start : start + AT_ONCE]:
                    await self._compose(entry, unit, now)
        return touched | {entry.card.channel for entry in stale}

    def next_due(self) -> datetime | None:
        """When a card changes without any row changing."""
        return min((entry.due for entry in self.entries.values() if entry.due is not None), default=None)

    def _is_stale(self, entry: CardEntry, now: datetime) -> bool:
        return not entry.card.is_final and (entry.is_stale or (entry.due is not None and entry.due <= now))

    async def _load(self, now: datetime) -> set[str]:
        cards, lines = self._changed_cards, self._changed_replies
        self._changed_cards, self._changed_replies = set(), set()
        if self._is_loaded and not cards and not lines:
            return set()
        async with self._store.unit() as unit:
            if not self._is_loaded:
                cards |= {card.id for card in await unit.cards.find(state="live", limit=ALL)}
                for state in ("pending", "refused"):
                    cards |= {line.card for line in await unit.replies.find(state=state, limit=ALL)}
            for id in lines:
                line = await unit.replies.get(id)
                if line is not None:
                    cards.add(line.card)
            touched = set()
            for id in sorted(cards):
                touched |= await self._load_card(CardId(id), unit, now)
        self._is_loaded = True
        return touched

    async def _load_card(self, id: CardId, unit: Unit, now: datetime) -> set[str]:
        entry = self.entries.get(id)
        card = await unit.cards.get(id)
        if card is None:
            if entry is None:
                return set()
            entry.card = replace(entry.card, is_final=True)  # its worker drops it
            entry.replies.clear()
            return {entry.card.channel}
        wanted = [line for line in await unit.replies.find(card=id, limit=ALL) if _is_wanted(line, now)]
        if entry is None:
            if card.is_final and not wanted:
                return set()
            self._order += 1
            entry = CardEntry(card=card, order=self._order)
            entry.attempts.refused = bool(card.error)
        parent = await unit.cards.get(card.parent) if card.parent else None
        entry.card, entry.parent_message_id = card, parent.message_id if parent is not None else None
        known = {one.reply.id: one for one in entry.replies}
        entry.replies = [_reply_entry(line, known) for line in wanted]
        self.entries[id] = entry
        return {card.channel}

    async def _compose(self, entry: CardEntry, unit: Unit, now: datetime) -> None:
        entry.is_stale = False
        try:
            composed = await self._composers[entry.card.kind](entry.card, unit, now)
        except Exception:  # one card's bug must not silence the others
            log.exception("telling.not_composed", card=entry.card.id)
            entry.due = now + RECOMPOSE_AFTER
            return
        digest = "" if composed.message is None else digest_of(composed.message)
        if digest != entry.digest and entry.attempts.refused:
            entry.attempts = Attempts()  # it was another view that was refused
        entry.desired, entry.digest, entry.due = composed, digest, composed.due_after(now)


def _is_wanted(line: ThreadReply, now: datetime) -> bool:
    return not line.message_id and (not line.error or now - line.at < REPLY_LIFETIME)


def _reply_entry(line: ThreadReply, known: dict[str, ReplyEntry]) -> ReplyEntry:
    """The line with the attempts that were made; one that was refused in another life lets others pass."""
    if one := known.get(line.id):
        one.reply = line
        return one
    return ReplyEntry(reply=line, attempts=Attempts(refused=bool(line.error)))
