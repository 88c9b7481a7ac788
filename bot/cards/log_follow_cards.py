"""The card of a log that is followed, in the thread where somebody asked for it."""

from datetime import datetime

from alerts.cards.posted import CardKind, PostedCard
from alerts.store import StoreSnapshot
from bot.cards.card_kind import CardContext, CardDefinition, Composed, own
from commands.models import LogFollow
from commands.training.followed_log import followed_log


async def _compose(
    card: PostedCard, snapshot: StoreSnapshot, _shared: CardContext, _now: datetime
) -> Composed:
    found = await snapshot.rows(LogFollow).get(card.row_id)
    if found is None:
        return Composed(message=None, is_final=True)
    return Composed(message=followed_log(found), is_final=found.is_over)


LOG_FOLLOW_CARD = CardDefinition(kind=CardKind.LOG_FOLLOW, compose=_compose, depends_on={LogFollow: own})
