"""This file wakes cards: one that nothing more was to be said on lives again, and is kept as the truth is."""

from dataclasses import replace

from alerts.cards.posted import PostedCard
from commands.stores import Unit


async def reopen(card: PostedCard, unit: Unit) -> PostedCard:
    """The card, live."""
    if not card.is_final:
        return card
    woken = replace(card, is_final=False)
    await unit.cards.put(woken)
    return woken
