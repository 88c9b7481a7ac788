"""Reminders of cordons of single GPUs past their end: one reply under the plan's card. They never uncordon."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

import structlog

from alerts.cards.message import Button
from alerts.cards.posted import CardKind, PostedCard
from alerts.cards.text import Text, person, text
from alerts.store import Store, StoreSnapshot
from bot.jobs.card_replies import reply
from bot.jobs.due_work import DueWork
from collectors.facts.sentences import listed, sentence
from commands.core.parent_members import cards_about
from commands.models import GpuLease

AGAIN_WITHOUT_A_CARD = timedelta(hours=1)

_log = structlog.get_logger()


class GpuLeaseReminder:
    """Mentions the owners of leases that are past their end. The GPU stays cordoned until somebody uncordons it."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.work = DueWork(name="gpu leases", row=GpuLease, column="remind_at", do=self._remind)

    async def _remind(self, due: GpuLease, now: datetime) -> timedelta | None:
        """Remind once of a lease that is past its end, as it is stored now."""
        async with self._store.unit() as unit:
            lease = await unit.rows(GpuLease).get(due.id)
            if lease is None or lease.remind_at is None or lease.remind_at > now:
                return None
            cards = await _cards_of(lease, unit)
            if not cards:
                _log.warning("GPU is past its end, and it has no card", node=lease.node, gpu=lease.gpu)
                return AGAIN_WITHOUT_A_CARD
            words, buttons = gpu_reminder(lease)
            event = f"gpu-lease/{lease.id}/{lease.until:%Y%m%d%H%M%S}"
            await reply(cards, event, words, buttons, unit=unit, now=now)
            await unit.rows(GpuLease).put(replace(lease, reminded_at=now))
        return None


async def _cards_of(lease: GpuLease, snapshot: StoreSnapshot) -> Sequence[PostedCard]:
    """Return the cards of the plan that recorded the lease, else those of its incident."""
    rows = snapshot.rows(PostedCard)
    found = await rows.find(kind=CardKind.PLAN.value, row_id=lease.plan) if lease.plan else ()
    return found or (await cards_about(lease.incident, snapshot) if lease.incident else ())


def gpu_reminder(lease: GpuLease) -> tuple[Text, tuple[Button, ...]]:
    """Return the reminder and its buttons: whom, of what, what to do."""
    line, at = f"gpu uncordon {lease.node} {lease.gpu}", f"--cluster {lease.cluster}"
    said = sentence(
        "{who}: your cordon of GPU {gpu} of `{node}` was due to end {at}.",
        who=person(lease.owner, lease.owner_name),
        gpu=lease.gpu,
        node=lease.node,
        at=lease.until,
    )
    stays = sentence("Pods are kept off it until somebody runs `{command}`.", command=line)
    longer = f"gpu cordon {lease.node} {lease.gpu} --for 4h {at}"
    return text(listed((said, stays), ".")), (
        Button(
            label=sentence("Uncordon GPU {gpu} of {node}", gpu=lease.gpu, node=lease.node),
            line=f"{line} {at}",
        ),
        Button(label="4 h more", line=longer),
    )
