"""Reminders of cordons past their end: one reply under the plan's card. They never uncordon."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime

import structlog

from alerts.cards.message import Button
from alerts.cards.posted import CardKind, PostedCard, ThreadReply, reply_id
from alerts.cards.text import Text, code, moment, person, text
from alerts.incidents.incident import Incident
from alerts.store import Store, Unit
from bot.jobs.due_work import DueWork
from bot.live_cluster import LiveCluster
from collectors.cluster.inventory import Inventory
from collectors.facts.clock import Clock
from collectors.facts.results import Blind
from commands.core.cordoned_nodes import against_uncordoning
from commands.execution.plan import Plan, StepState
from commands.execution.plan_journal import records_of
from commands.execution.plan_outcome import reopen
from commands.execution.steps import Record
from commands.models import CordonLease

MAX_PLANS = 1_000  # the newest of the cluster, among which the one that cordoned is searched

_log = structlog.get_logger()


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeNow:
    """A cordoned node as it is seen now. `against`: what speaks against uncordoning it; empty if nothing."""

    is_cordoned: bool
    kept_away: str = ""  # `8 free nvidia.com/gpu`
    against: str = ""


class LeaseReminder:
    """Mentions the owners of leases that are past their end. The node stays cordoned until somebody uncordons it."""

    def __init__(self, store: Store, clusters: Mapping[str, LiveCluster], clock: Clock) -> None:
        self._store = store
        self._clusters = clusters
        self._clock = clock
        self.work = DueWork(name="leases", row=CordonLease, column="remind_at", do=self._remind)

    async def _remind(self, due: CordonLease, now: datetime) -> None:
        """Remind once of a lease that is past its end, as it is stored now."""
        async with self._store.unit() as unit:
            lease = await unit.rows(CordonLease).get(due.id)
            if lease is None or lease.until is None or lease.remind_at is None or lease.remind_at > now:
                return
            words, buttons = reminder(lease, await self._node(lease, unit))
            for card in await reminded_cards(lease, unit):
                await unit.rows(ThreadReply).add(
                    ThreadReply(
                        id=reply_id(card.id, f"lease/{lease.node}/{lease.until:%Y%m%d%H%M%S}"),
                        cluster=lease.cluster,
                        card=card.id,
                        text=words,
                        at=now,
                        buttons=buttons,
                    )
                )
            await unit.rows(CordonLease).put(replace(lease, reminded_at=now))
            _log.info("cordon is past its end", node=lease.node, owner=lease.owner)

    async def _node(self, lease: CordonLease, unit: Unit) -> NodeNow | None:
        """Return the node as it is now; None while it cannot be seen."""
        cluster = self._clusters.get(lease.cluster)
        seen = cluster.refresh() if cluster is not None else None
        if seen is None or isinstance(seen, Blind):
            return None
        return node_now(lease.node, seen, await unit.rows(Incident).find(cluster=lease.cluster, state="open"))


async def reminded_cards(lease: CordonLease, unit: Unit) -> list[PostedCard]:
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


def node_now(name: str, inventory: Inventory, incidents: Iterable[Incident]) -> NodeNow:
    node = inventory.nodes.get(name)
    if node is None or not node.spec.unschedulable:
        return NodeNow(is_cordoned=False)
    gpus = inventory.gpus_on(name)
    free = [(resource, share.free) for resource, share in (gpus.counts if gpus else {}).items()]
    return NodeNow(
        is_cordoned=True,
        kept_away=", ".join(f"{count:g} free {resource}" for resource, count in free if count > 0),
        against=against_uncordoning(node, incidents),
    )


def reminder(lease: CordonLease, node: NodeNow | None) -> tuple[Text, tuple[Button, ...]]:
    """Return the reminder and its buttons: whom, of what, what to do. A node that is not seen is cordoned."""
    who, name = person(lease.owner, lease.owner_name), code(lease.node)
    ended = moment(lease.until) if lease.until is not None else "some time ago"
    uncordon = f"node uncordon {lease.node}"
    at = f"--cluster {lease.cluster}"
    if node is not None and not node.is_cordoned:
        removed = text(who, ": the cordon of ", name, f" ({lease.reason}) was due to end ", ended)
        removed = text(removed, "; somebody else removed it. ", code(uncordon), " removes its record.")
        return removed, (Button(label="Remove its record", line=f"{uncordon} {at}"),)
    words = text(who, ": your cordon of ", name, f" ({lease.reason}) was due to end ", ended, ". ")
    if node is not None and node.kept_away:
        words = text(words, f"It is still cordoned: {node.kept_away} kept from new pods.")
    else:
        words = text(words, "It is still cordoned, until somebody runs ", code(uncordon), ".")
    buttons = (Button(label="4 h more", line=f"node cordon {lease.node} --for 4h {at}"),)
    if node is not None and node.against:
        return text(words, f" Do not uncordon it yet: {node.against}."), buttons
    return words, (Button(label=f"Uncordon {lease.node}", line=f"{uncordon} {at}"), *buttons)
