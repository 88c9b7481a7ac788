"""The card of a training notice: in the team's channel, and as a direct message to the owner."""

from collections.abc import Callable, Iterable
from datetime import datetime, timedelta

from alerts.alert import Alert
from alerts.cards.channel_id import channel_id, kind_and_name
from alerts.cards.posted import CardKind, PostedCard, new_card
from alerts.incidents.incident import Incident
from alerts.store import StoreSnapshot
from bot.cards.card_kind import CardContext, CardDefinition, Composed, composer_of, own
from commands.execution.plan import Plan
from commands.models import TrainingNotice
from commands.training.failure_cause import LOOKED_AT_FOR, again_elsewhere, cause_of, death_of_notice
from commands.training.notice_card import notice_card

LOOK_AGAIN = timedelta(seconds=15)  # the incident of the node may be opened later
LOOK_WHETHER_OVER = timedelta(minutes=1)


def direct_channel(owner_id: str, channels: Iterable[str], reaches_people: Callable[[str], bool]) -> str:
    """Return the channel that is a person's own; empty where no kind of channel has one.

    An id without a kind is of the kind of these channels.
    """
    chat, name = kind_and_name(owner_id)
    kinds = [chat] if chat else [kind_and_name(one)[0] for one in channels]
    return next((channel_id(kind, name) for kind in kinds if name and reaches_people(kind)), "")


def wanted_notice_card(notice: TrainingNotice, channel: str) -> PostedCard:
    return new_card(CardKind.TRAINING_NOTICE, notice, channel)


async def _compose(
    found: TrainingNotice, _card: PostedCard, snapshot: StoreSnapshot, shared: CardContext, now: datetime
) -> Composed:
    mentions = not found.is_direct
    if not found.has_failed:
        alert = await snapshot.rows(Alert).get(found.alert)
        is_over = alert is None or not alert.is_firing
        message = notice_card(found, ended=is_over, mentions=mentions)
        return Composed(message=message, is_final=is_over, next_due=now + LOOK_WHETHER_OVER)
    cause = await cause_of(death_of_notice(found), snapshot)
    plan = await snapshot.rows(Plan).get(found.plan) if cause is not None and found.plan else None
    again = again_elsewhere(cause, plan) if cause is not None else None
    until = found.at + LOOKED_AT_FOR
    return Composed(
        message=notice_card(found, cause=cause, again=again, mentions=mentions),
        is_final=now >= until,
        next_due=min(until, now + LOOK_AGAIN),
    )


NOTICE_CARD = CardDefinition(
    kind=CardKind.TRAINING_NOTICE,
    compose=composer_of(TrainingNotice, _compose),
    depends_on={
        TrainingNotice: own,
        Incident: lambda _: (),  # it is looked at again for as long as another cause may be found
        Plan: lambda _: (),  # its line never changes
    },
)
