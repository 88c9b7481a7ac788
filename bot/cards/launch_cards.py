"""The card of a launched training, in the thread of its command."""

from datetime import datetime, timedelta

from alerts.cards.posted import CardKind, PostedCard, card_id
from alerts.store import StoreSnapshot
from bot.cards.card_kind import CardContext, CardDefinition, Composed, own
from commands.models import Launch
from commands.training.launch_card import launch_card

FOLLOW_EVERY = timedelta(seconds=15)  # its ranks come and go without a change of the launch's row


def wanted_launch_card(launch: Launch, default_channel: str) -> PostedCard:
    """Return the launch's card: where it was requested, else in the default channel."""
    channel = launch.channel or default_channel
    return PostedCard(
        id=card_id(CardKind.LAUNCH, launch.id, channel),
        cluster=launch.cluster,
        kind=CardKind.LAUNCH,
        row_id=launch.id,
        channel=channel,
        thread=launch.thread if launch.channel else "",
    )


async def _compose(card: PostedCard, snapshot: StoreSnapshot, shared: CardContext, now: datetime) -> Composed:
    found = await snapshot.rows(Launch).get(card.row_id)
    if found is None:
        return Composed(message=None, is_final=True)
    training = shared.training(found.cluster, found.training)
    message = launch_card(found, training, last_lines=found.last_lines)
    next_due = None if found.is_over else now + FOLLOW_EVERY
    return Composed(message=message, is_final=found.is_over, next_due=next_due)


LAUNCH_CARD = CardDefinition(kind=CardKind.LAUNCH, compose=_compose, depends_on={Launch: own})
