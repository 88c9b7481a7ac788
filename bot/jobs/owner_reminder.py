"""Reminders to owners of idle GPUs: at half time of a request, and when its GPUs were freed without an answer."""

from datetime import datetime, timedelta

import structlog

from alerts.cards.message import Button
from alerts.cards.posted import CardKind, PostedCard
from alerts.cards.text import Text
from alerts.store import Store, Unit
from bot.jobs.card_replies import reply
from bot.jobs.due_work import DueWork
from collectors.facts.clock import Clock
from commands.gpu.freeing_plan import freeing_plan
from commands.gpu.reclaim import LONGEST_WAIT
from commands.gpu.reclaim_card import answer_buttons, freed_text, half_time_text, start_again
from commands.models import ReclaimRequest, ReclaimState

SOON = timedelta(seconds=5)  # a plan that has freed them is about to end
NOTIFIED_WITHIN = timedelta(hours=1)  # after its end: what happened earlier is not news

_log = structlog.get_logger()


class OwnerReminder:
    """Reminds of requests without an answer. A reply's id says what it is about, so each is posted once."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self.work = DueWork(
            name="owners", row=ReclaimRequest, column="remind_at", do=self._remind, within=LONGEST_WAIT
        )

    async def _remind(self, due: ReclaimRequest, now: datetime) -> timedelta:
        """Remind of the request as it is stored now. Nothing more is due until it changes."""
        async with self._store.unit() as unit:
            reclaim = await unit.rows(ReclaimRequest).get(due.id)
            if reclaim is None or reclaim.remind_at is None or reclaim.remind_at > now:
                return LONGEST_WAIT
            if reclaim.state is ReclaimState.ASKED:
                if now < reclaim.grace_until:
                    await _notify(
                        reclaim, "half", half_time_text(reclaim), answer_buttons(reclaim), unit, now
                    )
                return LONGEST_WAIT
            if now > reclaim.grace_until + NOTIFIED_WITHIN:
                return LONGEST_WAIT
            plan = await freeing_plan(reclaim, unit)
            if plan is None or not plan.has_ended:
                return SOON
            buttons = start_again(reclaim, plan.id)
            await _notify(reclaim, "freed", freed_text(reclaim, plan.id), buttons, unit, now)
            return LONGEST_WAIT


async def _notify(
    reclaim: ReclaimRequest, event: str, words: Text, buttons: tuple[Button, ...], unit: Unit, now: datetime
) -> None:
    cards = await unit.rows(PostedCard).find(kind=CardKind.RECLAIM_REQUEST.value, row_id=reclaim.id)
    if await reply(cards, event, words, buttons, unit=unit, now=now):
        _log.info("owner reminded", request=reclaim.id, training=reclaim.training, about=event)
