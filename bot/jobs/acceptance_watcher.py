"""The acceptance watcher: judges nodes whose tests are over, and withdraws what an alert contradicts."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import KW_ONLY, dataclass, field, replace
from datetime import datetime

import structlog

from alerts.alert import Alert
from alerts.cards.posted import CardKind, PostedCard
from alerts.cards.text import text
from alerts.incidents.incident import Incident
from alerts.incidents.member_rows import incident_write, whole_ones, write_incident
from alerts.incidents.proofs_of_actions import prove_accepted
from alerts.lifecycle import AlertState
from alerts.store import Changed, Store, StoreSnapshot, Unit
from bot.event_waits import set_within
from bot.jobs.card_replies import reply
from bot.live_cluster import LiveCluster
from collectors.cluster.inventory import Inventory
from collectors.cluster.objects import Node
from collectors.facts.clock import Clock
from collectors.facts.results import SourceError
from collectors.facts.stepwise import result_of
from collectors.internal_errors import InternalErrors
from commands.acceptance.acceptance import Acceptance, AcceptanceState
from commands.acceptance.judgement import NodeUnderTest, judged, withdrawn
from commands.acceptance.suite_result import other_result, suite_result
from commands.acceptance.suites import LEASE_AUTOMATION, AcceptancePolicy
from commands.acceptance.verdict_text import uncordon_line, verdict_line
from commands.core.command import Handler
from commands.core.cordoned_gpus import cordoned_gpus
from commands.core.lookups import node_at
from commands.core.request import Actor, ActorKind, Request
from commands.execution.automation_ids import automation_id
from commands.execution.job_runs import JobRun
from commands.execution.plan import Origin, Plan
from commands.models import CordonLease, GpuLease

LOOK_AGAIN = 15.0  # seconds, while something is judged or watched

_log = structlog.get_logger()


@dataclass(eq=False, slots=True)
class AcceptanceWatcher:
    """Follows acceptances from the end of their plan until nothing can withdraw them any more.

    The verdict is stored once, with its reply. A lease is ended after that, by a line that runs once: after a crash the
    request's id is the same.
    """

    store: Store
    clusters: Mapping[str, LiveCluster]
    clock: Clock
    take: Handler
    policy: AcceptancePolicy
    _: KW_ONLY
    errors: InternalErrors = field(default_factory=InternalErrors)
    _changed: asyncio.Event = field(default_factory=asyncio.Event, init=False)
    # Whether an acceptance may change without a row that does.
    _is_busy: bool = field(default=True, init=False)

    def wake(self, changed: Changed) -> None:
        """Listen to the store: wake up when plans or acceptances have changed, or alerts while one is watched."""
        if not changed.keys().isdisjoint(("plans", "acceptances")) or (self._is_busy and "alerts" in changed):
            self._changed.set()

    async def run(self) -> None:
        """Run until cancelled."""
        while True:
            await self.check()
            await set_within(self._changed, LOOK_AGAIN if self._is_busy else None)
            self._changed.clear()

    async def check(self) -> None:
        """Look once at each acceptance that is not settled."""
        now = self.clock.now()
        async with self.store.read() as snapshot:
            running = await snapshot.rows(Acceptance).find(state=AcceptanceState.RUNNING.value)
            accepted = await snapshot.rows(Acceptance).find(state=AcceptanceState.ACCEPTED.value)
        watched = [one for one in accepted if one.watched_until is not None and one.watched_until >= now]
        away = [one for one in accepted if one.returned_at is None]
        self._is_busy = bool(running or watched or away)
        for one in running:
            await self._contained(one, self._judge)
        for one in away:
            await self._contained(one, self._note_return)
        for one in watched:
            await self._contained(one, self._watch)

    async def _contained(self, one: Acceptance, look: Callable[[Acceptance], Awaitable[None]]) -> None:
        try:
            await look(one)
        except SourceError:
            return  # blind: nothing is said
        except Exception as error:  # one acceptance's bug must not stop the others
            self.errors.contain(error, "acceptance", acceptance=one.id)

    async def _judge(self, one: Acceptance) -> None:
        """Store the verdict, once the plan has ended and the node can be seen."""
        cluster = self.clusters.get(one.cluster)
        async with self.store.read() as snapshot:
            plan = await snapshot.rows(Plan).get(one.plan)
            if plan is not None and not plan.has_ended:
                return
            ours = [test.run(one.plan) for test in one.tests if test.of is None]
            runs = await snapshot.rows(JobRun).get_all(ours)
            earlier = await snapshot.rows(Acceptance).find(
                cluster=one.cluster, model=one.model, state=AcceptanceState.ACCEPTED.value
            )
        if cluster is None or cluster.reader is None:
            return
        node = await node_at(cluster.reader, one.node)
        results = [
            other_result(test, await cluster.reader.read(test.of), one.plan)
            if test.of is not None
            else suite_result(test, runs.get(test.run(one.plan)))
            for test in one.tests
        ]
        after = judged(
            one,
            results,
            earlier,
            node=_as_tested(node, one, cluster.inventory()) if node is not None else None,
            now=self.clock.now(),
            slow_below=self.policy.slow_below,
            watched_for=self.policy.watched_for,
        )
        async with self.store.unit() as unit:
            if await unit.rows(Acceptance).get(one.id) != one:
                return
            await unit.rows(Acceptance).put(after)
            await self._say(after, unit)
            if after.is_proof:
                await _prove(after, unit, self.clock.now())
        _log.info("node judged", node=after.node, cluster=after.cluster, verdict=after.state.value)
        if after.is_proof and self.policy.ends_lease:
            await self._end_lease(after)

    async def _note_return(self, one: Acceptance) -> None:
        """Note when it takes pods again, whoever uncordoned it: then nothing is suggested any more."""
        cluster = self.clusters.get(one.cluster)
        if cluster is None or not _takes_pods(one, cluster.inventory()):
            return
        async with self.store.unit() as unit:
            stored = await unit.rows(Acceptance).get(one.id)
            if stored is not None and stored.is_proof and stored.returned_at is None:
                await unit.rows(Acceptance).put(replace(stored, returned_at=self.clock.now()))

    async def _watch(self, one: Acceptance) -> None:
        """Withdraw it if an alert about its GPUs fired after it."""
        async with self.store.unit() as unit:
            stored = await unit.rows(Acceptance).get(one.id)
            alerts = await unit.rows(Alert).find(cluster=one.cluster, state=AlertState.FIRING.value)
            after = withdrawn(stored, alerts, self.clock.now()) if stored is not None else None
            if after is None:
                return
            await unit.rows(Acceptance).put(after)
            await self._say(after, unit)
        _log.warning("acceptance withdrawn", node=after.node, cluster=after.cluster, reason=after.reasons[0])

    async def _say(self, one: Acceptance, unit: Unit) -> None:
        cards = await unit.rows(PostedCard).find(kind=CardKind.PLAN.value, row_id=one.plan)
        now = self.clock.now()
        await reply(cards, f"acceptance/{one.state.value}", text(verdict_line(one)), unit=unit, now=now)

    async def _end_lease(self, one: Acceptance) -> None:
        """Uncordon the node as the automation of the settings; what they do not allow is refused there, and said."""
        async with self.store.read() as snapshot:
            lease = await _lease_of(one, snapshot)
            channel = await _channel_of(one, snapshot)
        if lease is None or lease.since > one.at:
            return
        actor = Actor(
            id=LEASE_AUTOMATION,
            name=LEASE_AUTOMATION,
            kind=ActorKind.AUTOMATION,
            person=automation_id(LEASE_AUTOMATION),
        )
        await self.take(
            Request(
                id=f"acceptance/{one.id}",
                line=f"{uncordon_line(one)} --cluster {one.cluster}",
                actor=actor,
                at=self.clock.now(),
                origin=Origin(via=LEASE_AUTOMATION, channel=channel, why=verdict_line(one)),
            )
        )


async def _prove(one: Acceptance, unit: Unit, now: datetime) -> None:
    """Give the proof to the open incidents of the node that wait for one."""
    for incident in await unit.rows(Incident).find(cluster=one.cluster, state="open"):
        if incident.subject.node != one.node:
            continue
        (whole,) = await whole_ones([incident], unit)
        gpus = (one.gpu, one.device) if one.device else ()
        proven = prove_accepted(whole, node=one.node, since=one.at, now=now, gpus=gpus)
        if proven is not whole:
            await write_incident(unit, result_of(incident_write(proven, whole, incident)))


async def _lease_of(one: Acceptance, snapshot: StoreSnapshot) -> CordonLease | GpuLease | None:
    if one.device:
        return await snapshot.rows(GpuLease).get(f"{one.cluster}/{one.node}/{one.device}")
    return await snapshot.rows(CordonLease).get(f"{one.cluster}/{one.node}")


def _takes_pods(one: Acceptance, inventory: Inventory) -> bool:
    """Whether what was tested is seen to take pods."""
    node = inventory.nodes.get(one.node)
    if node is None:
        return False
    if one.device:
        named = {device.name for device in inventory.whole_gpus_on(one.node)}
        kept = {cordoned.device.name for cordoned in cordoned_gpus(inventory, one.node)}
        return one.device in named - kept
    return not node.spec.unschedulable


async def _channel_of(one: Acceptance, snapshot: StoreSnapshot) -> str:
    plan = await snapshot.rows(Plan).get(one.plan)
    return plan.origin.channel if plan is not None else ""


def _as_tested(node: Node, one: Acceptance, inventory: Inventory) -> NodeUnderTest:
    takes_pods = _takes_pods(one, inventory) if one.device else not node.spec.unschedulable
    return NodeUnderTest(uid=node.metadata.uid, boot_id=node.status.node_info.boot_id, takes_pods=takes_pods)
