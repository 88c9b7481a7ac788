"""The card of a reclaim request, which asks the owner."""

from datetime import datetime

from alerts.cards.posted import CardKind, PostedCard, card_id
from alerts.store import StoreSnapshot
from bot.cards.card_kind import CardContext, CardDefinition, Composed, own
from commands.gpu.reclaim_card import OPEN, reclaim_card
from commands.models import ReclaimRequest


def wanted_reclaim_card(reclaim: ReclaimRequest, default_channel: str) -> PostedCard | None:
    """Return the card that the request should have, None without a channel."""
    channel = reclaim.channel or default_channel
    if not channel:
        return None
    return PostedCard(
        id=card_id(CardKind.RECLAIM_REQUEST, reclaim.id, channel),
        cluster=reclaim.cluster,
        kind=CardKind.RECLAIM_REQUEST,
        row_id=reclaim.id,
        channel=channel,
    )


async def _compose(
    card: PostedCard, snapshot: StoreSnapshot, _shared: CardContext, now: datetime
) -> Composed:
    found = await snapshot.rows(ReclaimRequest).get(card.row_id)
    if found is None:
        return Composed(message=None, is_final=True)
    over = found.state not in OPEN
    return Composed(
        message=reclaim_card(found, now), is_final=over, next_due=None if over else found.grace_until
    )


RECLAIM_CARD = CardDefinition(
    kind=CardKind.RECLAIM_REQUEST, compose=_compose, depends_on={ReclaimRequest: own}
)
