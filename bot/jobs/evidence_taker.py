"""Evidence of nodes before a plan touches them. It delays the plan by a few seconds at most, and never stops it."""

import asyncio
from collections.abc import Mapping

import structlog

from alerts.store import Store
from bot.live_cluster import LiveCluster
from collectors.facts.clock import Clock
from commands.execution.plan import GATED, Plan
from commands.execution.steps import Record
from commands.models import NodeEvidence
from commands.node.node_evidence import evidence_of

LIMIT = 4.0  # seconds for all nodes of a plan
MOST = 8  # nodes

_log = structlog.get_logger()


class EvidenceTaker:
    """Takes the evidence once for each node of a plan, before its first step."""

    def __init__(self, store: Store, clusters: Mapping[str, LiveCluster], clock: Clock) -> None:
        self._store = store
        self._clusters = clusters
        self._clock = clock

    async def take(self, plan: Plan) -> None:
        """Store what is known of the nodes that the plan touches. What fails is logged."""
        cluster = self._clusters.get(plan.cluster)
        if cluster is None or plan.state not in GATED or plan.undo_of:
            return
        steps = [step for step in plan.steps if not isinstance(step, Record)]
        nodes = list(dict.fromkeys(step.ref.name for step in steps if step.ref.kind == "Node"))[:MOST]
        if not nodes:
            return
        try:
            async with asyncio.timeout(LIMIT):
                await asyncio.gather(*(self._take(node, plan, cluster) for node in nodes))
        except Exception as error:  # a plan never waits for it
            _log.warning("no evidence was taken", plan=plan.id, reason=repr(error)[:500])

    async def _take(self, node: str, plan: Plan, cluster: LiveCluster) -> None:
        now = self._clock.now()
        async with self._store.read() as snapshot:
            if await snapshot.rows(NodeEvidence).get(f"{plan.id}/{node}") is not None:
                return
            content = await evidence_of(node, cluster, snapshot, now)
        row = NodeEvidence(
            id=f"{plan.id}/{node}",
            cluster=plan.cluster,
            node=node,
            at=now,
            text=content,
            plan=plan.id,
            incident=plan.origin.incident,
        )
        async with self._store.unit() as unit:
            await unit.rows(NodeEvidence).add(row)
