"""The catalogue of card kinds."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from alerts.cards.message import Buttons, Context, Message
from alerts.cards.posted import CardKind, PostedCard, ThreadReply
from alerts.cards.text import markup
from alerts.store import StoreSnapshot, table_of
from bot.cards.card_kind import Affected, CardContext, CardDefinition, Composed
from bot.cards.daily_lease_cards import DAILY_LEASES_CARD
from bot.cards.incident_cards import INCIDENT_CARD, worded_of_incident
from bot.cards.launch_cards import LAUNCH_CARD
from bot.cards.log_follow_cards import LOG_FOLLOW_CARD
from bot.cards.notice_cards import NOTICE_CARD
from bot.cards.parent_cards import PARENT_CARD, worded_of_parent
from bot.cards.plan_cards import PLAN_CARD
from bot.cards.reclaim_cards import RECLAIM_CARD
from bot.cards.remediation_cards import BREAKER_CARD, REMEDIATION_CARD
from bot.cards.window_cards import WINDOW_CARD
from collectors.facts.sentences import sentence
from commands.core.cluster_selection import scoped, with_cluster

CARD_DEFINITIONS: tuple[CardDefinition, ...] = (
    INCIDENT_CARD,
    PARENT_CARD,
    PLAN_CARD,
    RECLAIM_CARD,
    LAUNCH_CARD,
    NOTICE_CARD,
    WINDOW_CARD,
    REMEDIATION_CARD,
    BREAKER_CARD,
    DAILY_LEASES_CARD,
    LOG_FOLLOW_CARD,
)


class CardCatalogue:
    """All kinds of cards, with what they show in addition to the store."""

    def __init__(
        self, context: CardContext, definitions: Iterable[CardDefinition] = CARD_DEFINITIONS
    ) -> None:
        self._context = context
        self._definitions: Mapping[CardKind, CardDefinition] = {one.kind: one for one in definitions}
        self._dependants: dict[str, list[CardDefinition]] = {}  # by table
        for one in self._definitions.values():
            for row in one.depends_on:
                self._dependants.setdefault(table_of(row).name, []).append(one)

    async def compose(self, card: PostedCard, snapshot: StoreSnapshot, now: datetime) -> Composed:
        """Return what the card should show now. Any exception is a bug of that card."""
        composed = await self._definitions[card.kind].compose(card, snapshot, self._context, now)
        message = composed.message
        if message is None:
            return composed
        if self._context.many_clusters:
            message = with_cluster(message, card.cluster)
        if card.instead_of:
            message = _instead_of(message, card.instead_of)
        if not self._context.has_buttons(card.channel):
            message = message.without_buttons
        if not self._context.has_menus(card.channel):
            message = message.without_menus
        return replace(composed, message=message)

    async def compose_reply(self, reply: ThreadReply, snapshot: StoreSnapshot) -> ThreadReply:
        """Return the reply with its words; they are empty if nothing of its card is stored any longer."""
        card = await snapshot.rows(PostedCard).get(reply.card) if reply.event else None
        if card is None:
            return reply
        worded = worded_of_parent if card.kind is CardKind.PARENT else worded_of_incident
        reply = await worded(reply, card, snapshot, self._context)
        if not self._context.many_clusters:
            return reply
        row = Buttons(buttons=reply.buttons).with_lines(lambda line: scoped(line, card.cluster))
        return replace(reply, buttons=row.buttons)

    def affected(self, table: str, id: str, row: Any) -> Iterable[tuple[CardKind, Affected]]:
        """Yield the cards that a changed row affects, by kind. A deleted row is None: its own card shows its end."""
        for definition in self._dependants.get(table, ()):
            for type_, affects in definition.depends_on.items():
                if table_of(type_).name == table:
                    of_deleted = definition.deleted.get(type_, _own_of_deleted)
                    yield definition.kind, of_deleted(id) if row is None else affects(row)


def _own_of_deleted(id: str) -> Affected:
    return (id,)


def _instead_of(message: Message, channel: str) -> Message:
    """Return the message of a card of the fallback, which says why it is there."""
    words = sentence("Posted here because `{channel}` could not show it.", channel=channel)
    return replace(message, blocks=(*message.blocks, Context(text=markup(words))))
