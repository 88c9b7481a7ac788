"""Reminders of cordons past their end: one reply under the plan's card. They never uncordon."""

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta

import structlog

from alerts.cards.message import Text, code, moment, person, text
from alerts.cards.posted import CardKind, PostedCard, ThreadReply, reply_id
from alerts.store import Store, Unit
from bot.live_cluster import LiveCluster
from collectors.facts.clock import Clock
from collectors.facts.results import Blind
from commands.models import CordonLease
from commands.plans.outcome import reopen
from commands.plans.plan import Plan, StepState
from commands.plans.plan_journal import records_of
from commands.plans.steps import Record

CHECK_EVERY = timedelta(seconds=5)
MAX_PLANS = 1_000  # the newest of the cluster, among which the one that cordoned is searched

_log = structlog.get_logger()


class LeaseReminder:
    """Checks the leases and mentions their owners. The node stays cordoned until somebody uncordons it."""

    def __init__(self, store: Store, clusters: Mapping[str, LiveCluster], clock: Clock) -> None:
        self._store = store
        self._clusters = clusters
        self._clock = clock

    async def run(self) -> None:
        """Run until cancelled."""
        while True:
            await self.check()
            await asyncio.sleep(CHECK_EVERY.total_seconds())

    async def check(self) -> None:
        """Check every lease, and remind once of each that is past its end."""
        now = self._clock.now()
        async with self._store.unit() as unit:
            for lease in await unit.rows(CordonLease).find():
                if lease.until is None or lease.until > now or lease.reminded_at is not None:
                    continue
                for card in await cards_of(lease, unit):
                    await unit.rows(ThreadReply).add(
                        ThreadReply(
                            id=reply_id(card.id, f"lease/{lease.node}/{lease.until:%Y%m%d%H%M%S}"),
                            cluster=lease.cluster,
                            card=card.id,
                            text=reminder(lease, is_cordoned=self._is_cordoned(lease)),
                            at=now,
                        )
                    )
                await unit.rows(CordonLease).put(replace(lease, reminded_at=now))
                _log.info("cordon is past its end", node=lease.node, owner=lease.owner)

    def _is_cordoned(self, lease: CordonLease) -> bool | None:
        """Return whether the node is still cordoned; None while that cannot be seen."""
        cluster = self._clusters.get(lease.cluster)
        seen = cluster.refresh() if cluster is not None else None
        if seen is None or isinstance(seen, Blind):
            return None
        node = seen.nodes.get(lease.node)
        return node is not None and bool(node.spec.unschedulable)


async def cards_of(lease: CordonLease, unit: Unit) -> list[PostedCard]:
    """Return the cards to remind on: the plan's that cordoned, else those of its incident.

    A plan older than the newest MAX_PLANS is not found.
    """
    for plan in await unit.rows(Plan).find(cluster=lease.cluster, newest=True, limit=MAX_PLANS):
        # A plan that failed or was stopped counts too: it may have cordoned nodes before that.
        if await _recorded(lease, plan, unit):
            cards = await unit.rows(PostedCard).find(kind=CardKind.PLAN.value, row_id=plan.id)
            return [await reopen(card, unit) for card in cards]
    if lease.incident:
        cards = await unit.rows(PostedCard).find(kind=CardKind.INCIDENT.value, row_id=lease.incident)
        return [await reopen(card, unit) for card in cards]
    return []


async def _recorded(lease: CordonLease, plan: Plan, unit: Unit) -> bool:
    """Whether the plan recorded the lease."""
    numbers = [
        number
        for number, step in enumerate(plan.steps)
        if isinstance(step, Record) and step.row is not None and (step.table, step.id) == ("leases", lease.id)
    ]
    records = await records_of(plan, unit) if numbers else ()
    return any(records[number].state is StepState.DONE for number in numbers)


def reminder(lease: CordonLease, *, is_cordoned: bool | None) -> Text:
    """Return the reminder: whom, of what, and what to type. A node that cannot be seen counts as cordoned."""
    until = (moment(lease.until),) if lease.until is not None else ()
    if is_cordoned is False:
        return text(
            person(lease.owner, lease.owner_name),
            ": the cordon of ",
            code(lease.node),
            f" ({lease.reason}) was due to end ",
            *until,
            "; somebody else removed it. ",
            code(f"node uncordon {lease.node}"),
            " removes its record.",
        )
    return text(
        person(lease.owner, lease.owner_name),
        " ",
        code(lease.node),
        f" is still cordoned ({lease.reason}); the cordon was due to end ",
        until,
        ". It stays cordoned until somebody runs ",
        code(f"node uncordon {lease.node}"),
        ".",
    )
