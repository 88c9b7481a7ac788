"""Reminders of cordons past their end: one reply under the plan's card. They never uncordon."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

import structlog

from alerts.cards.message import Button
from alerts.cards.text import Text, person, text
from alerts.incidents.incident import Incident
from alerts.store import Store
from bot.jobs.card_replies import reply
from bot.jobs.due_work import DueWork
from bot.jobs.lease_cards import cards_of_lease, plan_of
from bot.live_cluster import LiveCluster
from collectors.cluster.inventory import Inventory
from collectors.cluster.objects import Node
from collectors.facts.clock import Clock
from collectors.facts.results import Blind, SourceError
from collectors.facts.sentences import listed, sentence
from commands.core.cordoned_nodes import against_uncordoning, stands
from commands.core.lookups import node_at
from commands.models import CordonLease
from commands.node.cordon_state import is_node_of

AGAIN_WHEN_GONE = timedelta(minutes=1)  # the lease of a node that is gone ends, once a list shows it too
AGAIN_WITHOUT_A_CARD = timedelta(hours=1)
AGAIN_TO_SEE = timedelta(seconds=5)
SEEN_WITHIN = timedelta(minutes=5)  # after the end of a lease: so long a picture that is late is waited for

_log = structlog.get_logger()


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeNow:
    """A leased node as it is now. `against`: what speaks against uncordoning it; empty if nothing."""

    is_cordoned: bool
    is_gone: bool = False
    kept_away: str = ""  # `8 free nvidia.com/gpu`
    against: str = ""


class LeaseReminder:
    """Mentions the owners of leases that are past their end. The node stays cordoned until somebody uncordons it."""

    def __init__(self, store: Store, clusters: Mapping[str, LiveCluster], clock: Clock) -> None:
        self._store = store
        self._clusters = clusters
        self._clock = clock
        self.work = DueWork(name="leases", row=CordonLease, column="remind_at", do=self._remind)

    async def _remind(self, due: CordonLease, now: datetime) -> timedelta | None:
        """Remind once of a lease that is past its end, as it is stored now."""
        node = await self._node(due)
        if node is not None and node.is_gone:
            return AGAIN_WHEN_GONE
        if node is None and due.until is not None and now - due.until < SEEN_WITHIN:
            return AGAIN_TO_SEE
        async with self._store.read() as snapshot:  # long where the lease does not name its plan
            plan = await plan_of(due, snapshot)
        async with self._store.unit() as unit:
            lease = await unit.rows(CordonLease).get(due.id)
            if lease is None or lease.until is None or lease.remind_at is None or lease.remind_at > now:
                return None
            cards = await cards_of_lease(lease, plan, unit)
            if not cards:
                _log.warning("cordon is past its end, and it has no card", node=lease.node, owner=lease.owner)
                return AGAIN_WITHOUT_A_CARD
            words, buttons = reminder(lease, node)
            event = f"lease/{lease.node}/{lease.until:%Y%m%d%H%M%S}"
            await reply(cards, event, words, buttons, unit=unit, now=now)
            await unit.rows(CordonLease).put(replace(lease, reminded_at=now))
            _log.info("cordon is past its end", node=lease.node, owner=lease.owner)
        return None

    async def _node(self, lease: CordonLease) -> NodeNow | None:
        """Return the node as the API server has it; None while it cannot be seen."""
        cluster = self._clusters.get(lease.cluster)
        seen = cluster.refresh() if cluster is not None else None
        if cluster is None or cluster.reader is None or seen is None or isinstance(seen, Blind):
            return None
        try:
            node = await node_at(cluster.reader, lease.node)
        except SourceError:
            return None
        if node is None or not is_node_of(lease, node):
            return NodeNow(is_cordoned=False, is_gone=True)
        async with self._store.read() as snapshot:
            incidents = await snapshot.rows(Incident).find(cluster=lease.cluster, state="open")
        return node_now(node, seen, incidents)


def node_now(node: Node, inventory: Inventory, incidents: Iterable[Incident]) -> NodeNow:
    if not stands(node):
        return NodeNow(is_cordoned=False)
    gpus = inventory.gpus_on(node.metadata.name)
    free = [(resource, share.free) for resource, share in (gpus.counts if gpus else {}).items()]
    return NodeNow(
        is_cordoned=True,
        kept_away=listed(
            sentence("{free:g} free {resource}", free=count, resource=resource)
            for resource, count in free
            if count > 0
        ),
        against=against_uncordoning(node, incidents),
    )


def reminder(lease: CordonLease, node: NodeNow | None) -> tuple[Text, tuple[Button, ...]]:
    """Return the reminder and its buttons: whom, of what, what to do. None: the node cannot be seen."""
    who, ended = person(lease.owner, lease.owner_name), lease.until or sentence("some time ago")
    uncordon = f"node uncordon {lease.node}"
    at = f"--cluster {lease.cluster}"
    if node is not None and not node.is_cordoned:
        removed = sentence(
            "{who}: the cordon of `{node}` ({reason}) was due to end {at}; somebody else removed it. "
            "`{command}` removes its record.",
            who=who,
            node=lease.node,
            reason=lease.reason,
            at=ended,
            command=uncordon,
        )
        return text(removed), (Button(label="Remove its record", line=f"{uncordon} {at}"),)
    said = [
        sentence(
            "{who}: your cordon of `{node}` ({reason}) was due to end {at}.",
            who=who,
            node=lease.node,
            reason=lease.reason,
            at=ended,
        )
    ]
    if node is None:
        said.append(sentence("The node cannot be seen now, so whether it is still cordoned is not known."))
    elif node.kept_away:
        said.append(
            sentence("It is still cordoned: {resources} kept from new pods.", resources=node.kept_away)
        )
    else:
        said.append(sentence("It is still cordoned, until somebody runs `{command}`.", command=uncordon))
    buttons: tuple[Button, ...] = (Button(label="4 h more", line=f"node extend {lease.node} --for 4h {at}"),)
    if node is not None and node.against:
        said.append(sentence("Do not uncordon it yet: {reason}.", reason=node.against))
    else:
        buttons = (
            Button(label=sentence("Uncordon {name}", name=lease.node), line=f"{uncordon} {at}"),
            *buttons,
        )
    return text(listed(said, ".")), buttons
