"""The card of a log that is followed, in the thread where somebody asked for it."""

from datetime import datetime

from alerts.cards.posted import CardKind, PostedCard
from alerts.store import StoreSnapshot
from bot.cards.card_kind import CardContext, CardDefinition, Composed, composer_of, own
from commands.models import LogFollow
from commands.training.followed_log import followed_log


async def _compose(
    found: LogFollow, _card: PostedCard, _snapshot: StoreSnapshot, _shared: CardContext, _now: datetime
) -> Composed:
    return Composed(message=followed_log(found), is_final=found.is_over)


LOG_FOLLOW_CARD = CardDefinition(
    kind=CardKind.LOG_FOLLOW, compose=composer_of(LogFollow, _compose), depends_on={LogFollow: own}
)
