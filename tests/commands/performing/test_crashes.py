"""This file kills the performer at every write to its journal: after a restart each step is done exactly once."""

from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from bot.store.memory import MemoryStore
from collectors.sources.kubernetes_client import KubernetesClient, KubernetesSettings
from commands.cluster import ClusterWriter
from commands.performing import Performer
from commands.plans import Origin, Plan, PlanState, Risk, StepRecord, StepState
from commands.records import record
from commands.rows import CordonLease
from commands.steps import Create, Delete, Fact, Patch, Ref, Scale, Step, Wait
from demo.kubernetes import KubernetesLookalike

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
JOURNAL_WRITES = 15  # that it runs, two a step, the row that is recorded, that it is done


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


@pytest.fixture
async def kube(tmp_path: Path) -> AsyncIterator[KubernetesLookalike]:
    async with KubernetesLookalike.running(controllers=False) as kube:
        yield kube


@pytest.fixture
async def writer(kube: KubernetesLookalike, tmp_path: Path) -> AsyncIterator[ClusterWriter]:
    path = kube.kubeconfig(tmp_path / "kubeconfig")
    client = await KubernetesClient.connect(KubernetesSettings(kubeconfig=str(path)))
    try:
        yield ClusterWriter(client)
    finally:
        await client.close()


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
    dns = Ref(api="apps/v1", kind="Deployment", name="dns", namespace="default")
    fresh = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "new", "namespace": "default"}}
    return (
        Patch(
            ref=Ref(api="v1", kind="Node", name="gpu-a01", uid=node["metadata"]["uid"]),
            says="cordon",
            body={"spec": {"unschedulable": True}},
            requires=(Fact(path=("spec", "unschedulable")),),
            inverse={"spec": {"unschedulable": None}},
        ),
        Create(manifest=fresh, says="create new"),
        Delete(
            ref=Ref(api="v1", kind="ConfigMap", name="old", namespace="default", uid=old["metadata"]["uid"]),
            says="delete old",
        ),
        Scale(ref=dns, says="scale", replicas=3, was=2),
        Wait(ref=dns, says="wait", path=("spec", "replicas"), at_least=3, seconds=5),
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


def performer(store: Any, writer: ClusterWriter, clock: Noon | None = None) -> Performer:
    clock = clock or Noon()
    return Performer(store, {CLUSTER: writer}, clock, clock.pause)


async def kept(store: MemoryStore) -> Plan:
    async with store.unit() as unit:
        plan = await unit.plans.get("p1")
    assert plan is not None
    return plan


@pytest.mark.parametrize("lands", [False, True], ids=["before it lands", "just after it landed"])
@pytest.mark.parametrize("at", range(1, JOURNAL_WRITES + 2))  # the last one is never reached
async def test_killed_at_a_journal_write_each_step_is_done_exactly_once(
    kube: KubernetesLookalike, writer: ClusterWriter, at: int, lands: bool
) -> None:
    store = MemoryStore()
    plan = plan_of(*furnished(kube))
    async with store.unit() as unit:
        await unit.plans.put(plan)
    changes: Counter[tuple[str, str]] = Counter()
    stop = kube.store.listen(
        lambda change: changes.update([(change.type, change.after.tree["metadata"]["name"])])
    )
    died = False
    try:
        await performer(DyingStore(store, at, lands=lands), writer).perform(plan)
    except Crash:
        died = True
    assert died == (at <= JOURNAL_WRITES)
    over = await performer(store, writer).perform(await kept(store))
    stop()
    assert over.state is PlanState.DONE
    assert {one.state for one in over.records} == {StepState.DONE}
    assert changes == {
        ("MODIFIED", "gpu-a01"): 1,
        ("ADDED", "new"): 1,
        ("DELETED", "old"): 1,
        ("MODIFIED", "dns"): 1,
    }
    async with store.unit() as unit:
        assert await unit.leases.find() == [LEASE]


async def test_a_plan_that_is_over_is_not_done_again(
    kube: KubernetesLookalike, writer: ClusterWriter
) -> None:
    store = MemoryStore()
    over = await performer(store, writer).perform(plan_of(*furnished(kube)))
    before = len(kube.requests)
    again = await performer(store, writer).perform(over)
    assert again.state is PlanState.DONE
    assert len(kube.requests) == before


async def test_a_conflict_is_tried_again_with_the_object_as_it_is_then(
    kube: KubernetesLookalike, writer: ClusterWriter
) -> None:
    steps = furnished(kube)
    kube.fail(lambda seen: seen.method == "PATCH" and not seen.dry_run, 409, times=2)
    over = await performer(MemoryStore(), writer).perform(plan_of(steps[0]))
    assert over.state is PlanState.DONE
    assert len([seen for seen in kube.requests if seen.method == "PATCH"]) == 3


async def test_a_conflict_without_end_is_given_up_and_said(
    kube: KubernetesLookalike, writer: ClusterWriter
) -> None:
    steps = furnished(kube)
    kube.fail(lambda seen: seen.method == "PATCH", 409, times=100)
    over = await performer(MemoryStore(), writer).perform(plan_of(steps[0]))
    assert over.state is PlanState.FAILED
    assert "being changed by somebody else all the time" in over.trouble


async def test_a_precondition_that_fails_stops_the_plan_and_says_what_is_so_instead(
    kube: KubernetesLookalike, writer: ClusterWriter
) -> None:
    steps = furnished(kube)
    kube.patch("nodes", "", "gpu-a01", {"spec": {"unschedulable": True}})
    over = await performer(MemoryStore(), writer).perform(plan_of(*steps))
    assert over.state is PlanState.FAILED
    assert "spec.unschedulable is True now, not None as was shown" in over.trouble
    assert [one.state.value for one in over.records] == ["failed"] + ["skipped"] * 5
    assert kube.get("configmaps", "default", "old") is not None


async def test_a_replica_count_that_moved_is_not_overwritten(
    kube: KubernetesLookalike, writer: ClusterWriter
) -> None:
    steps = furnished(kube)
    kube.patch("deployments", "default", "dns", {"spec": {"replicas": 7}})
    over = await performer(MemoryStore(), writer).perform(plan_of(steps[3]))
    assert over.state is PlanState.FAILED
    assert "has 7 replicas now, not 2" in over.trouble


async def test_what_is_there_already_and_is_not_ours_is_not_taken_over(
    kube: KubernetesLookalike, writer: ClusterWriter
) -> None:
    steps = furnished(kube)
    kube.create({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "new"}}, namespace="default")
    over = await performer(MemoryStore(), writer).perform(plan_of(steps[1]))
    assert over.state is PlanState.FAILED
    assert "is there already, and is not ours" in over.trouble


async def test_another_object_under_the_same_name_is_not_deleted(
    kube: KubernetesLookalike, writer: ClusterWriter
) -> None:
    steps = furnished(kube)
    kube.delete("configmaps", "default", "old")
    kube.create({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "old"}}, namespace="default")
    over = await performer(MemoryStore(), writer).perform(plan_of(steps[2]))
    assert over.state is PlanState.DONE
    assert "was gone already" in over.records[0].outcome
    assert kube.get("configmaps", "default", "old") is not None


async def test_a_wait_that_is_never_answered_gives_up_in_time_and_says_what_it_saw(
    kube: KubernetesLookalike, writer: ClusterWriter
) -> None:
    steps = furnished(kube)
    clock = Noon()
    over = await performer(MemoryStore(), writer, clock).perform(plan_of(steps[4]))
    assert over.state is PlanState.FAILED
    assert "not so after 5 s; it is 2" in over.trouble
    assert clock.at - NOON <= timedelta(seconds=6)


async def test_a_cancelled_plan_stops_before_its_next_step(
    kube: KubernetesLookalike, writer: ClusterWriter
) -> None:
    store = MemoryStore()
    plan = plan_of(*furnished(kube))
    async with store.unit() as unit:
        await unit.plans.put(replace(plan, state=PlanState.CANCELLED))
    over = await performer(store, writer).perform(plan)
    assert over.state is PlanState.CANCELLED
    assert {one.state.value for one in over.records} == {"skipped"}
    assert not [seen for seen in kube.requests if seen.method != "GET"]
