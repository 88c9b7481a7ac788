"""Plans to execute on a look-alike, a store for their journal, and a process that crashes."""

import asyncio
from collections.abc import AsyncGenerator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

from alerts.store import StoreSnapshot
from commands.execution.cluster_writer import ClusterWriter
from commands.execution.executor import PlanExecutor
from commands.execution.hooks import HookAnswer
from commands.execution.object_refs import ObjectRef
from commands.execution.plan import Origin, Plan, PlanState, StepRecord, in_order
from commands.execution.plan_journal import records_of
from commands.execution.preconditions import Precondition
from commands.execution.record_steps import record
from commands.execution.steps import (
    Call,
    Create,
    Delete,
    Evict,
    Exec,
    NodeJob,
    Order,
    Patch,
    Record,
    Running,
    Scale,
    Step,
    Wait,
)
from demo.lookalikes.kubernetes import KubernetesLookalike
from demo.lookalikes.kubernetes.store import Change
from tests.support.memory_store import MemoryStore
from tests.support.rows import a_lease

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
CLUSTER = "prod-a"
LEASE = a_lease(NOON, reason="fan", plan="p1")


class Noon:
    """A clock that only a pause moves."""

    def __init__(self) -> None:
        self.at = NOON

    def now(self) -> datetime:
        return self.at

    def elapsed(self) -> timedelta:
        return self.at - NOON

    async def pause(self, seconds: float) -> None:
        self.at += timedelta(seconds=seconds)

    def monotonic(self) -> float:
        return self.at.timestamp()


class Crash(BaseException):
    """A crash of the process."""


class DyingStore:
    """A store that crashes at its n-th transaction, just before or just after the commit."""

    def __init__(self, store: MemoryStore, at: int, *, lands: bool) -> None:
        self._store = store
        self._left = at
        self._lands = lands

    def read(self) -> AbstractAsyncContextManager[StoreSnapshot]:
        return self._store.read()

    @asynccontextmanager
    async def unit(self) -> AsyncGenerator[Any]:
        self._left -= 1
        async with self._store.unit() as unit:
            yield unit
            if self._left == 0 and not self._lands:
                raise Crash
        if self._left == 0:
            raise Crash


# What the step of each kind in `furnished` changes in the cluster, as a watch sees it.
EFFECTS: Mapping[type[Step], tuple[tuple[str, str], ...]] = {
    Patch: (("MODIFIED", "gpu-a01"),),
    Create: (("ADDED", "new"),),
    Delete: (("DELETED", "old"),),
    Scale: (("MODIFIED", "dns"),),
    Evict: (("DELETED", "web-0"),),
    Wait: (),
    Running: (),
    Record: (),
    NodeJob: (("ADDED", "fix"), ("MODIFIED", "fix"), ("DELETED", "fix")),  # its controller ends it
    Exec: (),
    Order: (("ADDED", "order"), ("MODIFIED", "obedient"), ("DELETED", "order")),  # its controller obeys it
    Call: (),
}


async def _stacks(*_named: object) -> tuple[bytes, int]:
    return b'Process 7: python\nThread 7 (idle): "MainThread"\n    train (train.py:3)\n', 0


def furnished(kube: KubernetesLookalike) -> tuple[Step, ...]:
    """Create objects to change, and return one step of every kind; those of new kinds are the last."""
    node = kube.create({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "gpu-a01"}})
    old = kube.create(
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "old"}}, namespace="default"
    )
    kube.create(
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "obedient"}}, namespace="default"
    )
    pod = kube.create(
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": "web-0"},
            "spec": {"containers": [{"name": "web", "image": "web:1"}]},
        },
        namespace="default",
    )
    busy = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "busy"},
        "spec": {"nodeName": "gpu-a01", "containers": [{"name": "main", "image": "busy:1"}]},
        "status": {
            "phase": "Running",
            "containerStatuses": [{"name": "main", "restartCount": 0, "state": {"running": {}}}],
        },
    }
    kube.create(busy, namespace="default", keep_status=True)
    kube.execs = _stacks
    labels = {"app": "dns"}
    kube.create(
        {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"name": "dns"},
            "spec": {
                "replicas": 2,
                "selector": {"matchLabels": labels},
                "template": {
                    "metadata": {"labels": labels},
                    "spec": {"containers": [{"name": "dns", "image": "dns:1"}]},
                },
            },
        },
        namespace="default",
    )
    dns = ObjectRef(api="apps/v1", kind="Deployment", name="dns", namespace="default")
    kube.store.listen(lambda change: _end_job(kube, change))
    kube.store.listen(lambda change: _obey(kube, change))
    fresh = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "new", "namespace": "default"}}
    cordon = Patch(
        ref=ObjectRef(api="v1", kind="Node", name="gpu-a01", uid=node["metadata"]["uid"]),
        description="cordon",
        body={"spec": {"unschedulable": True}},
        requires=(Precondition(path=("spec", "unschedulable")),),
        undo={"spec": {"unschedulable": None}},
    )
    return (
        cordon,
        Create(manifest=fresh, description="create new"),
        Delete(
            ref=ObjectRef(
                api="v1", kind="ConfigMap", name="old", namespace="default", uid=old["metadata"]["uid"]
            ),
            description="delete old",
        ),
        Scale(ref=dns, description="scale", replicas=3, expected=2),
        Evict(
            ref=ObjectRef(
                api="v1", kind="Pod", name="web-0", namespace="default", uid=pod["metadata"]["uid"]
            ),
            description="evict web-0",
        ),
        Wait(ref=dns, description="wait", path=("spec", "replicas"), at_least=3, seconds=5),
        Running(ref=dns, description="wait for its pods", label="app=dns", count=0, seconds=5),
        record("leases", LEASE, text="record the lease", about=(cordon.leaves(),)),
        NodeJob(
            node=cordon.ref,
            manifest=a_job("fix"),
            script="fix",
            description="run fix on gpu-a01",
            start_within=5,
            run_within=5,
        ),
        Exec(
            ref=ObjectRef(api="v1", kind="Pod", name="busy", namespace="default"),
            description="look",
            tool="py-spy",
            container="main",
            seconds=5,
        ),
        Order(
            ref=ObjectRef(api="v1", kind="ConfigMap", name="obedient", namespace="default"),
            description="order it to be done",
            manifest={
                "apiVersion": "v1",
                "kind": "ConfigMap",
                "metadata": {"name": "order", "namespace": "default"},
            },
            path=("data", "is"),
            before=("None",),
            after=("done",),
            back={
                "apiVersion": "v1",
                "kind": "ConfigMap",
                "metadata": {"name": "counterorder", "namespace": "default"},
            },
            seconds=5,
        ),
        Call(ref=cordon.ref, hook="reboot", content={"node": "gpu-a01"}, description="call"),
    )


class Answering:
    """Webhooks that answer at once."""

    async def call(self, hook: str, *, id: str, body: bytes) -> HookAnswer:
        return HookAnswer(status=202, text="taken")


def a_job(name: str, namespace: str = "default") -> dict[str, Any]:
    container = {"name": "script", "image": "tools:1", "command": ["true"]}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {
            "backoffLimit": 0,
            "template": {"spec": {"restartPolicy": "Never", "containers": [container]}},
        },
    }


def _obey(kube: KubernetesLookalike, change: Change) -> None:
    """Obey an order as soon as it was created, and take it away, as its controller would."""
    if change.type != "ADDED" or change.after.tree["metadata"]["name"] != "order":
        return

    def obeyed() -> None:
        kube.patch("configmaps", "default", "obedient", {"data": {"is": "done"}})
        kube.delete("configmaps", "default", "order")

    asyncio.get_running_loop().call_soon(obeyed)


def _end_job(kube: KubernetesLookalike, change: Change) -> None:
    """Complete a Job as soon as it was created, as its controller would."""
    if change.type != "ADDED" or change.kind.kind != "Job":
        return
    meta = change.after.tree["metadata"]
    done = {"status": {"conditions": [{"type": "Complete", "status": "True"}]}}
    ended = partial(kube.patch, "jobs", meta["namespace"], meta["name"], done, status=True)
    asyncio.get_running_loop().call_soon(ended)


def plan_of(*steps: Step) -> Plan:
    return Plan(
        id="p1",
        cluster=CLUSTER,
        line="test",
        command="test",
        actor="U_DANA",
        actor_name="dana",
        origin=Origin(),
        created_at=NOON,
        expires_at=NOON + timedelta(hours=1),
        stages=in_order(*steps),
        title="Test",
        state=PlanState.CONFIRMED,
    )


def executor(store: Any, writer: ClusterWriter, clock: Noon | None = None) -> PlanExecutor:
    clock = clock or Noon()
    return PlanExecutor(store, {CLUSTER: writer}, clock, clock.pause, clock.monotonic, hooks=Answering())


async def stored(store: MemoryStore) -> Plan:
    async with store.unit() as unit:
        plan = await unit.rows(Plan).get("p1")
    assert plan is not None
    return plan


async def journalled(store: Any, plan: Plan) -> tuple[StepRecord, ...]:
    """Return the records of the plan's steps."""
    async with store.unit() as unit:
        return await records_of(plan, unit)
