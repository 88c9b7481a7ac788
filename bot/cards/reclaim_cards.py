"""The card of a reclaim request, which asks the owner."""

from collections.abc import Callable
from datetime import datetime

from alerts.cards.channel_id import channel_id, kind_and_name
from alerts.cards.posted import CardKind, PostedCard, new_card
from alerts.store import StoreSnapshot
from bot.cards.card_kind import CardContext, CardDefinition, Composed, composer_of, own
from commands.execution.plan import Plan
from commands.gpu.freeing_plan import freeing_plan, requests_of
from commands.gpu.reclaim_card import reclaim_card
from commands.models import OPEN_REQUEST, ReclaimRequest, ReclaimState


def wanted_reclaim_cards(
    reclaim: ReclaimRequest, default_channel: str, *, reaches_people: Callable[[str], bool]
) -> list[PostedCard]:
    """Return the cards that the request should have: in its channel, and as a direct message to the owner.

    `reaches_people`: whether a kind of channel has people's ids as channels of its own. Who has no id of such a kind is
    asked in the channel only.
    """
    channel = reclaim.channel or default_channel
    if not channel:
        return []
    kind, _ = kind_and_name(channel)
    channels = [channel]
    chat, owner = kind_and_name(reclaim.owner_id)
    if owner and reaches_people(chat or kind):
        channels.append(channel_id(chat or kind, owner))
    return [_card(reclaim, one) for one in channels]


def _card(reclaim: ReclaimRequest, channel: str) -> PostedCard:
    return new_card(CardKind.RECLAIM_REQUEST, reclaim, channel)


async def _compose(
    found: ReclaimRequest, _card: PostedCard, snapshot: StoreSnapshot, _shared: CardContext, now: datetime
) -> Composed:
    over = found.state not in OPEN_REQUEST
    plan = await freeing_plan(found, snapshot) if found.state is ReclaimState.FREED else None
    return Composed(
        message=reclaim_card(found, now, plan=plan.id if plan else ""),
        is_final=over,
        next_due=None if over else found.grace_until,
    )


RECLAIM_CARD = CardDefinition(
    kind=CardKind.RECLAIM_REQUEST,
    compose=composer_of(ReclaimRequest, _compose),
    depends_on={ReclaimRequest: own, Plan: requests_of},
)
