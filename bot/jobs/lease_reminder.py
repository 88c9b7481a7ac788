"""This file reminds of cordons whose time is up: one line under the deed's card. It never lifts one."""

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta

import structlog

from alerts.cards.message import Text, code, moment, person, text
from alerts.cards.posted import CardKind, PostedCard, ThreadReply, reply_id
from bot.live_cluster import LiveCluster
from collectors.facts.clock import Clock
from collectors.facts.results import Blind
from commands.models import CordonLease
from commands.plans.outcome import reopen
from commands.plans.plan import StepState
from commands.plans.steps import Record
from commands.store import Store, Unit

CHECK_EVERY = timedelta(seconds=5)

_log = structlog.get_logger()


class LeaseReminder:
    """Looks at the leases. Who cordoned is named; the node stays as it is until somebody uncordons it."""

    def __init__(self, store: Store, clusters: Mapping[str, LiveCluster], clock: Clock) -> None:
        self._store = store
        self._clusters = clusters
        self._clock = clock

    async def run(self) -> None:
        """For ever."""
        while True:
            await self.look()
            await asyncio.sleep(CHECK_EVERY.total_seconds())

    async def look(self) -> None:
        """One look at every lease: each that is over is reminded of once."""
        now = self._clock.now()
        async with self._store.unit() as unit:
            for lease in await unit.leases.find(limit=10_000):
                if lease.until is None or lease.until > now or lease.reminded_at is not None:
                    continue
                for card in await cards_of(lease, unit):
                    await unit.replies.add(
                        ThreadReply(
                            id=reply_id(card.id, f"lease/{lease.node}/{lease.until:%Y%m%d%H%M%S}"),
                            cluster=lease.cluster,
                            card=card.id,
                            text=reminder(lease, is_cordoned=self._is_cordoned(lease)),
                            at=now,
                        )
                    )
                await unit.leases.put(replace(lease, reminded_at=now))
                _log.info("a cordon is past its time", node=lease.node, owner=lease.owner)

    def _is_cordoned(self, lease: CordonLease) -> bool | None:
        """Whether the node still is; None where that is not seen now."""
        cluster = self._clusters.get(lease.cluster)
        seen = cluster.refresh() if cluster is not None else None
        if seen is None or isinstance(seen, Blind):
            return None
        node = seen.nodes.get(lease.node)
        return node is not None and bool(node.spec.unschedulable)


async def cards_of(lease: CordonLease, unit: Unit) -> list[PostedCard]:
    """Where to remind: the cards of the deed that cordoned, else those of the incident it was done for."""
    for plan in await unit.plans.find(cluster=lease.cluster, newest=True):
        # Not only of plans that went to their end: one that failed, or was stopped, cordoned the nodes before that.
        done = (
            step
            for step, record in zip(plan.steps, plan.records, strict=True)
            if record.state is StepState.DONE and isinstance(step, Record) and step.row is not None
        )
        if any((step.table, step.id) == ("leases", lease.id) for step in done):
            cards = await unit.cards.find(kind=CardKind.PLAN.value, row_id=plan.id)
            return [await reopen(card, unit) for card in cards]
    if lease.incident:
        cards = await unit.cards.find(kind=CardKind.INCIDENT.value, row_id=lease.incident)
        return [await reopen(card, unit) for card in cards]
    return []


def reminder(lease: CordonLease, *, is_cordoned: bool | None) -> Text:
    """The line: whom it reminds, of what, and what to type. What is not seen is taken to be as we left it."""
    until = (moment(lease.until),) if lease.until is not None else ()
    if is_cordoned is False:
        return text(
            person(lease.owner, lease.owner_name),
            ": the cordon of ",
            code(lease.node),
            f" ({lease.reason}) was to end ",
            *until,
            "; somebody else has ended it. ",
            code(f"node uncordon {lease.node}"),
            " takes away what I noted of it.",
        )
    return text(
        person(lease.owner, lease.owner_name),
        " ",
        code(lease.node),
        f" is still cordoned ({lease.reason}), its time was up ",
        until,
        ". It stays cordoned until somebody runs ",
        code(f"node uncordon {lease.node}"),
        ".",
    )
