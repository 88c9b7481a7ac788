"""This file wakes cards: one that nothing more was to be said on lives again, and is kept as the truth is."""

from dataclasses import replace

from alerts.telling.cards import Told
from commands.stores import Unit


async def wake(card: Told, unit: Unit) -> Told:
    """The card, live."""
    if not card.is_settled:
        return card
    woken = replace(card, is_settled=False)
    await unit.cards.put(woken)
    return woken
