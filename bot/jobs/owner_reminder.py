"""Reminders to owners of idle GPUs: at half time of a request, and when its GPUs were freed without an answer."""

import asyncio
from datetime import datetime, timedelta

import structlog

from alerts.cards.message import Button
from alerts.cards.posted import CardKind, PostedCard, ThreadReply, reply_id
from alerts.cards.text import Text
from alerts.store import Store, Unit
from collectors.facts.clock import Clock
from commands.gpu.freeing_plan import freeing_plan
from commands.gpu.reclaim_card import answer_buttons, freed_text, half_time_text, start_again
from commands.models import ReclaimRequest, ReclaimState
from commands.plans.outcome import reopen

CHECK_EVERY = timedelta(seconds=5)
NOTIFIED_WITHIN = timedelta(hours=1)  # after its end: what happened earlier is not news

_log = structlog.get_logger()


class OwnerReminder:
    """Checks the requests without an answer. A reply's id says what it is about, so each is posted once."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    async def run(self) -> None:
        """Run until cancelled."""
        while True:
            await self.check()
            await asyncio.sleep(CHECK_EVERY.total_seconds())

    async def check(self) -> None:
        now = self._clock.now()
        async with self._store.unit() as unit:
            for reclaim in await unit.rows(ReclaimRequest).find(state=ReclaimState.ASKED.value):
                if reclaim.is_automatic and half_time(reclaim) <= now < reclaim.grace_until:
                    await _notify(
                        reclaim, "half", half_time_text(reclaim), answer_buttons(reclaim), unit, now
                    )
            for reclaim in await unit.rows(ReclaimRequest).find(
                state=ReclaimState.FREED.value, newest=True, limit=50
            ):
                if reclaim.answered_by or now > reclaim.grace_until + NOTIFIED_WITHIN:
                    continue
                plan = await freeing_plan(reclaim, unit)
                if plan is not None and plan.has_ended:
                    buttons = start_again(reclaim, plan.id)
                    await _notify(reclaim, "freed", freed_text(reclaim, plan.id), buttons, unit, now)


def half_time(reclaim: ReclaimRequest) -> datetime:
    return reclaim.asked_at + (reclaim.grace_until - reclaim.asked_at) / 2


async def _notify(
    reclaim: ReclaimRequest, event: str, words: Text, buttons: tuple[Button, ...], unit: Unit, now: datetime
) -> None:
    """Add the reply under each card of the request that does not have it yet."""
    for card in await unit.rows(PostedCard).find(kind=CardKind.RECLAIM_REQUEST.value, row_id=reclaim.id):
        id = reply_id(card.id, event)
        if await unit.rows(ThreadReply).get(id) is None:
            await reopen(card, unit)
            reply = ThreadReply(
                id=id, cluster=reclaim.cluster, card=card.id, text=words, at=now, buttons=buttons
            )
            await unit.rows(ThreadReply).add(reply)
            _log.info("owner reminded", request=reclaim.id, training=reclaim.training, about=event)
