"""The card of a launched training, in the thread of its command."""

from datetime import datetime, timedelta

from alerts.cards.posted import CardKind, PostedCard, new_card
from alerts.incidents.incident import Incident
from alerts.store import StoreSnapshot
from bot.cards.card_kind import CardContext, CardDefinition, Composed, composer_of, own
from commands.execution.plan import Plan
from commands.models import Launch
from commands.training.failure_blocks import failure_of_row
from commands.training.failure_cause import (
    LOOKED_AT_FOR,
    again_elsewhere,
    cause_of,
    death_of_launch,
)
from commands.training.launch_card import launch_card

FOLLOW_EVERY = timedelta(seconds=15)  # its ranks come and go without a change of the launch's row


def wanted_launch_card(launch: Launch, default_channel: str) -> PostedCard:
    """Return the launch's card: where it was requested, else in the default channel."""
    channel = launch.channel or default_channel
    return new_card(CardKind.LAUNCH, launch, channel, thread=launch.thread if launch.channel else "")


async def _compose(
    found: Launch, _card: PostedCard, snapshot: StoreSnapshot, shared: CardContext, now: datetime
) -> Composed:
    training = shared.training(found.cluster, found.training)
    cause = await cause_of(death_of_launch(found, training), snapshot)
    plan = await snapshot.rows(Plan).get(found.plan) if cause is not None else None
    message = launch_card(
        found,
        training,
        last_lines=found.last_lines,
        failure=failure_of_row(found, cause, training.first_failures if training is not None else ()),
        again=again_elsewhere(cause, plan) if cause is not None else None,
    )
    if not found.is_over:
        return Composed(message=message, next_due=now + FOLLOW_EVERY)
    until = found.failed_at + LOOKED_AT_FOR if found.failed_on and found.failed_at else now
    return Composed(message=message, is_final=now >= until, next_due=until)


LAUNCH_CARD = CardDefinition(
    kind=CardKind.LAUNCH,
    compose=composer_of(Launch, _compose),
    depends_on={
        Launch: own,
        Incident: lambda incident: (f"{incident.cluster}/{one.training}" for one in incident.impacts),
        Plan: lambda _: (),  # its line never changes
    },
)
