"""Replies of jobs in the threads of cards: each once, also under a card that was final."""

from collections.abc import Iterable
from datetime import datetime

from alerts.cards.message import Button
from alerts.cards.posted import PostedCard, ThreadReply, reply_id
from alerts.cards.text import Text
from alerts.store import Unit
from commands.execution.plan_outcome import reopen


async def reply(
    cards: Iterable[PostedCard],
    event: str,
    words: Text,
    buttons: tuple[Button, ...] = (),
    *,
    unit: Unit,
    now: datetime,
) -> bool:
    """Add a reply under each of the cards that has none about this event, and return whether any had none."""
    is_new = False
    for card in cards:
        id = reply_id(card.id, event)
        if await unit.rows(ThreadReply).get(id) is not None:
            continue
        is_new = True
        await reopen(card, unit)
        await unit.rows(ThreadReply).add(
            ThreadReply(id=id, cluster=card.cluster, card=card.id, text=words, at=now, buttons=buttons)
        )
    return is_new


async def broadcast(cards: Iterable[PostedCard], event: int, *, unit: Unit, now: datetime) -> None:
    """Add a reply about an event of what the cards show, which the channel shows too."""
    for card in cards:
        id = reply_id(card.id, str(event))
        await unit.rows(ThreadReply).add(
            ThreadReply(id=id, cluster=card.cluster, card=card.id, event=event, at=now, broadcast=True)
        )
