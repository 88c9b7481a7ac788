"""This file kills the performer at every write to its journal: after a restart each step is done exactly once."""

from collections import Counter
from dataclasses import replace
from datetime import timedelta

import pytest

from bot.store.memory_store import MemoryStore
from commands.plans.cluster_writer import ClusterWriter
from commands.plans.plan import PlanState, StepState
from demo.lookalikes.kubernetes import KubernetesLookalike
from tests.support.execution import LEASE, NOON, Crash, DyingStore, Noon, furnished, kept, performer, plan_of

JOURNAL_WRITES = 15  # that it runs, two a step, the row that is recorded, that it is done


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
        await performer(DyingStore(store, at, lands=lands), writer).execute(plan)
    except Crash:
        died = True
    assert died == (at <= JOURNAL_WRITES)
    over = await performer(store, writer).execute(await kept(store))
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
        assert [entry.what for entry in await unit.audit.find()] == ["done"]


async def test_a_plan_that_is_over_is_not_done_again(
    kube: KubernetesLookalike, writer: ClusterWriter
) -> None:
    store = MemoryStore()
    over = await performer(store, writer).execute(plan_of(*furnished(kube)))
    before = len(kube.requests)
    again = await performer(store, writer).execute(over)
    assert again.state is PlanState.DONE
    assert len(kube.requests) == before


async def test_a_conflict_is_tried_again_with_the_object_as_it_is_then(
    kube: KubernetesLookalike, writer: ClusterWriter
) -> None:
    steps = furnished(kube)
    kube.fail(lambda seen: seen.method == "PATCH" and not seen.dry_run, 409, times=2)
    over = await performer(MemoryStore(), writer).execute(plan_of(steps[0]))
    assert over.state is PlanState.DONE
    assert len([seen for seen in kube.requests if seen.method == "PATCH"]) == 3


async def test_a_conflict_without_end_is_given_up_and_said(
    kube: KubernetesLookalike, writer: ClusterWriter
) -> None:
    steps = furnished(kube)
    kube.fail(lambda seen: seen.method == "PATCH", 409, times=100)
    over = await performer(MemoryStore(), writer).execute(plan_of(steps[0]))
    assert over.state is PlanState.FAILED
    assert "being changed by somebody else all the time" in over.error


async def test_a_precondition_that_fails_stops_the_plan_and_says_what_is_so_instead(
    kube: KubernetesLookalike, writer: ClusterWriter
) -> None:
    steps = furnished(kube)
    kube.patch("nodes", "", "gpu-a01", {"spec": {"unschedulable": True}})
    over = await performer(MemoryStore(), writer).execute(plan_of(*steps))
    assert over.state is PlanState.FAILED
    assert "spec.unschedulable is True now, not None as was shown" in over.error
    assert [one.state.value for one in over.records] == ["failed"] + ["skipped"] * 5
    assert kube.get("configmaps", "default", "old") is not None


async def test_a_replica_count_that_moved_is_not_overwritten(
    kube: KubernetesLookalike, writer: ClusterWriter
) -> None:
    steps = furnished(kube)
    kube.patch("deployments", "default", "dns", {"spec": {"replicas": 7}})
    over = await performer(MemoryStore(), writer).execute(plan_of(steps[3]))
    assert over.state is PlanState.FAILED
    assert "has 7 replicas now, not 2" in over.error


async def test_what_is_there_already_and_is_not_ours_is_not_taken_over(
    kube: KubernetesLookalike, writer: ClusterWriter
) -> None:
    steps = furnished(kube)
    kube.create({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "new"}}, namespace="default")
    over = await performer(MemoryStore(), writer).execute(plan_of(steps[1]))
    assert over.state is PlanState.FAILED
    assert "is there already, and is not ours" in over.error


async def test_another_object_under_the_same_name_is_not_deleted(
    kube: KubernetesLookalike, writer: ClusterWriter
) -> None:
    steps = furnished(kube)
    kube.delete("configmaps", "default", "old")
    kube.create({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "old"}}, namespace="default")
    over = await performer(MemoryStore(), writer).execute(plan_of(steps[2]))
    assert over.state is PlanState.DONE
    assert "was gone already" in over.records[0].outcome
    assert kube.get("configmaps", "default", "old") is not None


async def test_a_wait_that_is_never_answered_gives_up_in_time_and_says_what_it_saw(
    kube: KubernetesLookalike, writer: ClusterWriter
) -> None:
    steps = furnished(kube)
    clock = Noon()
    over = await performer(MemoryStore(), writer, clock).execute(plan_of(steps[4]))
    assert over.state is PlanState.FAILED
    assert "not so after 5 s; it is 2" in over.error
    assert clock.at - NOON <= timedelta(seconds=6)


async def test_a_cancelled_plan_stops_before_its_next_step(
    kube: KubernetesLookalike, writer: ClusterWriter
) -> None:
    store = MemoryStore()
    plan = plan_of(*furnished(kube))
    async with store.unit() as unit:
        await unit.plans.put(replace(plan, state=PlanState.CANCELLED, error="cancelled by eli"))
    over = await performer(store, writer).execute(plan)
    assert (over.state, over.error) == (PlanState.CANCELLED, "cancelled by eli")
    assert {one.state.value for one in over.records} == {"skipped"}
    assert not [seen for seen in kube.requests if seen.method != "GET"]
