"""This file has plans to perform before a look-alike, a journal that remembers, and a process that dies."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

from bot.store.memory_store import MemoryStore
from commands.models import CordonLease
from commands.plans.cluster_writer import ClusterWriter
from commands.plans.executor import PlanExecutor
from commands.plans.plan import Origin, Plan, PlanState, Risk, StepRecord
from commands.plans.record_steps import record
from commands.plans.steps import Create, Delete, ObjectRef, Patch, Precondition, Scale, Step, Wait
from demo.lookalikes.kubernetes import KubernetesLookalike

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
CLUSTER = "prod-a"
LEASE = CordonLease(
    id="prod-a/gpu-a01",
    cluster=CLUSTER,
    node="gpu-a01",
    owner="U_DANA",
    owner_name="dana",
    reason="fan",
    since=NOON,
)


class Noon:
    """A clock that a pause moves."""

    def __init__(self) -> None:
        self.at = NOON

    def now(self) -> datetime:
        return self.at

    async def pause(self, seconds: float) -> None:
        self.at += timedelta(seconds=seconds)


class Crash(BaseException):
    """The process dies here."""


class DyingStore:
    """A store whose n-th transaction is the last thing that happens: before it lands, or just after."""

    def __init__(self, store: MemoryStore, at: int, *, lands: bool) -> None:
        self._store = store
        self._left = at
        self._lands = lands

    @asynccontextmanager
    async def unit(self) -> AsyncGenerator[Any]:
        self._left -= 1
        async with self._store.unit() as unit:
            yield unit
            if self._left == 0 and not self._lands:
                raise Crash
        if self._left == 0:
            raise Crash


def furnished(kube: KubernetesLookalike) -> tuple[Step, ...]:
    """Objects to work on, and one step of every kind."""
    node = kube.create({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "gpu-a01"}})
    old = kube.create(
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "old"}}, namespace="default"
    )
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
    fresh = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "new", "namespace": "default"}}
    return (
        Patch(
            ref=ObjectRef(api="v1", kind="Node", name="gpu-a01", uid=node["metadata"]["uid"]),
            description="cordon",
            body={"spec": {"unschedulable": True}},
            requires=(Precondition(path=("spec", "unschedulable")),),
            inverse={"spec": {"unschedulable": None}},
        ),
        Create(manifest=fresh, description="create new"),
        Delete(
            ref=ObjectRef(
                api="v1", kind="ConfigMap", name="old", namespace="default", uid=old["metadata"]["uid"]
            ),
            description="delete old",
        ),
        Scale(ref=dns, description="scale", replicas=3, expected=2),
        Wait(ref=dns, description="wait", path=("spec", "replicas"), at_least=3, seconds=5),
        record("leases", LEASE, says="note the lease"),
    )


def plan_of(*steps: Step) -> Plan:
    return Plan(
        id="p1",
        cluster=CLUSTER,
        line="test",
        command="test",
        risk=Risk.TOUCH,
        actor="U_DANA",
        actor_name="dana",
        origin=Origin(),
        created_at=NOON,
        expires_at=NOON + timedelta(hours=1),
        steps=steps,
        records=tuple(StepRecord() for _ in steps),
        title="Test",
        state=PlanState.CONFIRMED,
    )


def performer(store: Any, writer: ClusterWriter, clock: Noon | None = None) -> PlanExecutor:
    clock = clock or Noon()
    return PlanExecutor(store, {CLUSTER: writer}, clock, clock.pause)


async def kept(store: MemoryStore) -> Plan:
    async with store.unit() as unit:
        plan = await unit.plans.get("p1")
    assert plan is not None
    return plan
