"""A cluster, two people and the bot's jobs in virtual time, for histories of what they do to nodes at the same time."""

import asyncio
import copy
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from random import Random
from typing import Any

from bot.jobs.lease_watcher import LeaseWatcher
from bot.jobs.unknown_steps import UnknownSteps
from collectors.cluster.inventory import Inventory
from collectors.cluster.kinds import DEFAULT_KINDS
from collectors.facts.results import Blind, SourceError
from collectors.internal_errors import InternalErrors
from collectors.topology_builder import build_topology
from commands.command_catalogue import LEXICON
from commands.core.command import Answer
from commands.core.context import Defaults
from commands.core.cordoned_nodes import BY, UNTIL
from commands.core.pipeline import Pipeline
from commands.core.request import Actor, Request
from commands.execution.cluster_writer import ClusterWriter
from commands.execution.executor import PlanExecutor
from commands.execution.plan import Origin, Plan, PlanState, StepRecord, StepState
from commands.execution.plan_journal import records_of
from commands.execution.steps import Record
from commands.models import CordonLease
from tests.support.memory_store import MemoryStore
from tests.support.objects import inventory, read
from tests.support.odd_api import Killed, OddApi
from tests.support.yard import CLUSTER, EVERYTHING, NOON, Hands, a_node_tree, text_of

NODES = ("gpu-a01", "gpu-a02", "gpu-b01")
DANA = Actor(id="U_DANA", name="dana", teams=frozenset({"sre"}))
ELI = Actor(id="U_ELI", name="eli", teams=frozenset({"sre"}))
STALE_AFTER = timedelta(seconds=90)
LATE_BY = timedelta(seconds=60)
_TYPES = {kind.path.rpartition("/")[2]: kind.type for kind in reversed(DEFAULT_KINDS)}


@dataclass
class LateCluster:
    """The cluster as the bot sees it: its watch may be silent, or a minute late."""

    api: OddApi
    clock: Hands
    name: str = CLUSTER
    watch: str = "live"
    silent_since: datetime = NOON
    cache: None = None
    logs: None = None
    pod_logs: None = None
    _past: list[tuple[datetime, dict[Any, Any]]] = field(default_factory=list)
    _read: tuple[dict[Any, Any], Inventory] | None = None

    def __post_init__(self) -> None:
        self.reader = ClusterWriter(self.api)
        self.api.changed = self.note
        self.note()

    def note(self) -> None:
        self._past.append((self.clock.now(), self.api.objects))

    def turn(self, watch: str) -> None:
        if watch == "silent" and self.watch != "silent":
            self.silent_since = self.clock.now()
        self.watch = watch

    def refresh(self) -> Inventory | Blind:
        now, at = self.clock.now(), self.clock.now()
        if self.watch == "silent":
            at = self.silent_since
            if now - at > STALE_AFTER:
                return Blind(source="kubernetes", at=now, reason="nodes have not been seen for 90 s")
        elif self.watch == "late":
            at = now - LATE_BY
        seen = [objects for made_at, objects in self._past if made_at <= at][-1:] or [self._past[0][1]]
        if self._read is None or self._read[0] is not seen[0]:
            things = (
                read(_TYPES[plural], tree) for (plural, *_), tree in seen[0].items() if plural in _TYPES
            )
            self._read = seen[0], inventory(*things)
        return self._read[1]

    def inventory(self) -> Inventory:
        found = self.refresh()
        if isinstance(found, Blind):
            raise SourceError(found.reason)
        return found

    def trainings(self) -> tuple[()]:
        return ()

    def topology(self) -> Any:
        found = self.refresh()
        empty = inventory()
        return build_topology(empty if isinstance(found, Blind) else found, (), cluster=self.name)


class History:
    """What happened, and what is known of it."""

    def __init__(self, seed: int) -> None:
        self.clock = Hands()
        self.api = OddApi(random=Random(seed))
        self.store = MemoryStore()
        for name in NODES:
            self.api.put("nodes", _node(name))
        for plural, tree in _workloads():
            self.api.put(plural, tree)
        self.cluster = LateCluster(self.api, self.clock)
        self.by_hand: set[str] = set()  # nodes that somebody changed without us
        self.answers: list[str] = []
        self._requests = 0
        self.start()

    def start(self) -> None:
        """Start the bot, on what is stored."""
        writers = {CLUSTER: self.cluster.reader}
        self.pipeline = Pipeline(
            lexicon=LEXICON,
            permissions=EVERYTHING,
            store=self.store,
            clusters={CLUSTER: self.cluster},  # type: ignore[dict-item]
            writers=writers,
            clock=self.clock,
            defaults=Defaults(),
            rules=dict,
        )
        self.executor = PlanExecutor(
            self.store, writers, self.clock, self._pause, lambda: self.clock.elapsed().total_seconds()
        )
        clusters: Any = {CLUSTER: self.cluster}
        self.leases = LeaseWatcher(self.store, clusters, self.clock)
        self.unknown = UnknownSteps(self.store, self.executor, self.clock, errors=InternalErrors())

    async def _pause(self, seconds: float) -> None:
        self.clock.move(timedelta(seconds=seconds))
        await asyncio.sleep(0)

    # What people do.

    async def answer(self, line: str, actor: Actor) -> Answer | None:
        self._requests += 1
        request = Request(
            id=f"r{self._requests}",
            line=line,
            actor=actor,
            at=self.clock.now(),
            origin=Origin(via="slack", channel="C_GPU", thread="1.1"),
        )
        return await self.pipeline.handle(request)

    async def say(self, line: str, actor: Actor) -> str:
        answer = await self.answer(line, actor)
        return "" if answer is None else text_of(answer.message)

    async def proposed(self, line: str, actor: Actor) -> Plan | None:
        known = {plan.id for plan in await self.plans()}
        self.answers.append(await self.say(line, actor))
        return next((plan for plan in await self.plans() if plan.id not in known and plan.line == line), None)

    async def confirmed(self, plan: Plan, actor: Actor) -> Plan | None:
        """Return the plan if it could be confirmed. One that is shown again is left."""
        self.answers.append(await self.say(f"plan confirm {plan.id} --hash {plan.hash}", actor))
        found = await self.plan(plan.id)
        return found if found is not None and found.state is PlanState.CONFIRMED else None

    async def do(self, line: str, actor: Actor) -> Plan | None:
        """Send a line, confirm its plan and run it. None: there was none to run."""
        plan = await self.proposed(line, actor)
        confirmed = await self.confirmed(plan, actor) if plan is not None else None
        return await self.executor.execute(confirmed) if confirmed is not None else None

    async def killed_while(self, line: str, actor: Actor, *, after: int) -> None:
        """Kill the process at a request of the running plan, start it again, and let it go on."""
        plan = await self.proposed(line, actor)
        confirmed = await self.confirmed(plan, actor) if plan is not None else None
        if confirmed is None:
            return
        self.api.dies_in = after
        try:
            await self.executor.execute(confirmed)
        except* Killed:
            pass
        self.api.dies_in = 0
        self.start()
        if (left := await self.plan(confirmed.id)) is not None and not left.has_ended:
            await self.executor.execute(left)

    def hand(self, act: str, name: str) -> None:
        """Let somebody change a node with kubectl."""
        key = ("nodes", "", name)
        self.by_hand.add(name)
        if key not in self.api.objects:
            if act in ("replace", "add"):
                self.api.put("nodes", _node(name))
            return
        match act:
            case "cordon":
                self.api.patch(key, {"spec": {"unschedulable": True}})
            case "uncordon":
                self.api.patch(key, {"spec": {"unschedulable": None}})
            case "strip":
                self.api.patch(key, {"metadata": {"annotations": {BY: None}}})
            case "remove":
                self.api.drop(key)
            case "replace":
                self.api.drop(key)
                self.api.put("nodes", _node(name))
            case _:
                pass  # one that is there cannot be added

    # What the bot does by itself.

    async def pass_time(self, by: timedelta) -> None:
        self.clock.move(by)
        await self.unknown.check()
        await self.leases.check()

    async def heal(self) -> None:
        """Let the API server and the watch be well, and the bot's jobs run for some minutes."""
        self.api.oddity, self.api.odd_writes, self.api.dark = "", 0, 0
        self.cluster.turn("live")
        for _ in range(3):
            await self.pass_time(timedelta(minutes=1))

    # What happens, and what is known of it.

    async def plans(self) -> Sequence[Plan]:
        async with self.store.read() as snapshot:
            return await snapshot.rows(Plan).find()

    async def plan(self, id: str) -> Plan | None:
        async with self.store.read() as snapshot:
            return await snapshot.rows(Plan).get(id)

    async def records(self, plan: Plan) -> tuple[StepRecord, ...]:
        async with self.store.read() as snapshot:
            return await records_of(plan, snapshot)

    async def lease(self, name: str) -> CordonLease | None:
        async with self.store.read() as snapshot:
            return await snapshot.rows(CordonLease).get(f"{CLUSTER}/{name}")

    def node(self, name: str) -> dict[str, Any] | None:
        return copy.deepcopy(self.api.objects.get(("nodes", "", name)))

    async def named_by_cards(self) -> set[str]:
        """Return the nodes of which the card of a plan says that a step was not done, or is not known to be."""
        found: set[str] = set()
        for plan in await self.plans():
            if plan.state is PlanState.PROPOSED or not plan.error:
                continue
            for step, record in zip(plan.steps, await self.records(plan), strict=True):
                if record.state not in (StepState.DONE, StepState.WAITING):
                    refs = [one.ref for one in step.about] if isinstance(step, Record) else [step.ref]
                    found |= {ref.name for ref in refs if ref.kind == "Node"}
        return found


def is_ours(node: dict[str, Any] | None) -> bool:
    return node is not None and BY in (node["metadata"].get("annotations") or {})


def stands(node: dict[str, Any] | None) -> bool:
    return node is not None and bool(node["spec"].get("unschedulable")) and is_ours(node)


def until_of(node: dict[str, Any]) -> str:
    found: str = (node["metadata"].get("annotations") or {}).get(UNTIL, "")
    return found


def _node(name: str) -> dict[str, Any]:
    return {**a_node_tree(name), "spec": {}}


def _workloads() -> list[tuple[str, dict[str, Any]]]:
    """The DNS, and a StatefulSet that writes to a volume from the first node."""
    claim = {"volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "ckpt"}}]}
    pod = {"containers": [{"name": "main", "image": "i"}], **claim}
    labels = {"app": "samples"}
    owner = {
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "name": "samples",
        "uid": "u",
        "controller": True,
    }
    csi = {"driver": "rook-ceph.rbd.csi.ceph.com", "volumeHandle": "h-7", "volumeAttributes": {}}
    volume = {"accessModes": ["ReadWriteOnce"], "storageClassName": "rbd"}
    return [
        (
            "deployments",
            {
                "apiVersion": "apps/v1",
                "kind": "Deployment",
                "metadata": {"name": "coredns", "namespace": "kube-system"},
                "spec": {
                    "replicas": 2,
                    "selector": {"matchLabels": {"k8s-app": "kube-dns"}},
                    "template": {
                        "metadata": {"labels": {"k8s-app": "kube-dns"}},
                        "spec": pod | {"volumes": []},
                    },
                },
                "status": {"readyReplicas": 2},
            },
        ),
        (
            "statefulsets",
            {
                "apiVersion": "apps/v1",
                "kind": "StatefulSet",
                "metadata": {"name": "samples", "namespace": "vision"},
                "spec": {
                    "replicas": 1,
                    "selector": {"matchLabels": labels},
                    "template": {"metadata": {"labels": labels}, "spec": pod},
                },
                "status": {"readyReplicas": 1},
            },
        ),
        (
            "pods",
            {
                "apiVersion": "v1",
                "kind": "Pod",
                "metadata": {
                    "name": "samples-0",
                    "namespace": "vision",
                    "labels": labels,
                    "ownerReferences": [owner],
                },
                "spec": {**pod, "nodeName": NODES[0]},
                "status": {"phase": "Running"},
            },
        ),
        (
            "persistentvolumes",
            {
                "apiVersion": "v1",
                "kind": "PersistentVolume",
                "metadata": {"name": "pv-ckpt"},
                "spec": {**volume, "csi": csi, "claimRef": {"namespace": "vision", "name": "ckpt"}},
            },
        ),
        (
            "persistentvolumeclaims",
            {
                "apiVersion": "v1",
                "kind": "PersistentVolumeClaim",
                "metadata": {"name": "ckpt", "namespace": "vision"},
                "spec": {**volume, "volumeName": "pv-ckpt"},
            },
        ),
    ]
