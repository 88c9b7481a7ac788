"""The lease watcher: whether the cordon of each lease still stands, and the end of a lease whose node is gone."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace

import structlog

from alerts.cards.text import Text, person, text
from alerts.store import Changed, Store, StoreSnapshot
from bot.jobs.card_replies import reply
from bot.jobs.cluster_changes import check_after_changes
from bot.jobs.lease_cards import cards_of_lease, plan_of
from bot.live_cluster import LiveCluster
from collectors.cluster.cache import ObjectChange
from collectors.cluster.kinds import NODES
from collectors.facts.clock import Clock
from collectors.facts.results import SourceError
from collectors.facts.sentences import listed, sentence
from collectors.internal_errors import InternalErrors
from commands.core.cordoned_nodes import stands
from commands.core.lookups import node_at
from commands.execution.plan import Plan, PlanState
from commands.execution.steps import Record
from commands.models import CordonLease
from commands.node.cordon_state import is_node_of

_log = structlog.get_logger()


async def nobody_follows(_leases: Sequence[CordonLease]) -> None:
    return None


@dataclass(eq=False, slots=True)
class LeaseWatcher:
    """Keeps in each lease what is known of its cordon. It lifts none.

    The picture of a cluster may be late, so what it says is asked of the API server before it counts. A lease ends by
    itself only when its node is missing from a complete list and at the API server: there is nothing left to lift.
    `follow` gets all leases whenever one may have changed.
    """

    store: Store
    clusters: Mapping[str, LiveCluster]
    clock: Clock
    _: KW_ONLY
    follow: Callable[[Sequence[CordonLease]], Awaitable[None]] = nobody_follows
    errors: InternalErrors = field(default_factory=InternalErrors)
    _followed: frozenset[tuple[str, str]] = field(default=frozenset(), init=False)  # cluster, node
    _changed: asyncio.Event = field(default_factory=asyncio.Event, init=False)

    def wake(self, changed: Changed) -> None:
        """Listen to the store: wake up when there may be another lease, or a plan that changed one has ended."""
        if "leases" in changed or (self._followed and "plans" in changed):
            self._changed.set()

    def _note(self, cluster: str, change: ObjectChange) -> None:
        if change.kind == NODES.name and (cluster, change.key) in self._followed:
            self._changed.set()

    async def run(self) -> None:
        """Run until cancelled: check after each change, but not before it is in the cluster's snapshot."""
        await check_after_changes(self.check, self._changed, self.clusters, self._note)

    async def check(self) -> None:
        """Look once at each lease whose cordon is not seen to be as the lease says."""
        async with self.store.read() as snapshot:
            leases = await snapshot.rows(CordonLease).find()
        self._followed = frozenset((one.cluster, one.node) for one in leases)
        await self.follow(leases)
        for lease in leases:
            cluster = self.clusters.get(lease.cluster)
            if cluster is None:
                continue
            try:
                await self._look(lease, cluster)
            except SourceError:
                continue  # blind: nothing is said, and nothing ends
            except Exception as error:  # one lease's bug must not stop the others
                self.errors.contain(error, "lease", lease=lease.id)

    async def _look(self, lease: CordonLease, cluster: LiveCluster) -> None:
        seen = cluster.inventory().nodes.get(lease.node)
        is_seen = seen is not None and is_node_of(lease, seen)
        if is_seen and seen is not None and stands(seen) is (lease.lifted_at is None):
            return
        if cluster.reader is None:
            return
        node = await node_at(cluster.reader, lease.node)
        if node is None or not is_node_of(lease, node):
            if not is_seen:
                await self._end(lease, is_replaced=node is not None)
            return
        lifted_at = None if stands(node) else lease.lifted_at or self.clock.now()
        if lifted_at == lease.lifted_at:
            return
        async with self.store.unit() as unit:
            if await unit.rows(CordonLease).get(lease.id) != lease or await _is_in_a_plan(lease, unit):
                return  # a plan was faster, or is about to end it
            await unit.rows(CordonLease).put(replace(lease, lifted_at=lifted_at))

    async def _end(self, lease: CordonLease, *, is_replaced: bool) -> None:
        now = self.clock.now()
        async with self.store.read() as snapshot:
            plan = await plan_of(lease, snapshot)
        async with self.store.unit() as unit:
            if await unit.rows(CordonLease).get(lease.id) != lease:
                return
            await unit.rows(CordonLease).delete(lease.id)
            event = f"lease/{lease.node}/gone/{now:%Y%m%d%H%M%S}"
            cards = await cards_of_lease(lease, plan, unit)
            await reply(cards, event, ended_text(lease, is_replaced=is_replaced), unit=unit, now=now)
        _log.info("lease ended, its node is gone", node=lease.node, cluster=lease.cluster)


async def _is_in_a_plan(lease: CordonLease, snapshot: StoreSnapshot) -> bool:
    """Return whether a plan runs that writes the lease: between two of its steps the node is ahead of the row."""
    live = await snapshot.rows(Plan).find(
        cluster=lease.cluster, state=(PlanState.CONFIRMED.value, PlanState.RUNNING.value)
    )
    return any(isinstance(step, Record) and step.id == lease.id for plan in live for step in plan.steps)


def ended_text(lease: CordonLease, *, is_replaced: bool) -> Text:
    """Return what the owner of a lease reads when its node has left the cluster."""
    who = person(lease.owner, lease.owner_name)
    if is_replaced:
        said = sentence(
            "{who}: `{node}` has left the cluster, and another node has its name now.",
            who=who,
            node=lease.node,
        )
    else:
        said = sentence("{who}: `{node}` has left the cluster.", who=who, node=lease.node)
    ended = sentence("Your cordon of it ({reason}) has ended with it.", reason=lease.reason)
    return text(listed((said, ended), "."))
