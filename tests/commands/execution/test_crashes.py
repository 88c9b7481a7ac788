"""Crashes of the executor at every journal write: after a restart each step is done exactly once."""

from collections import Counter
from dataclasses import replace
from datetime import timedelta

import pytest
from msgspec import structs

from commands.execution.cluster_writer import ClusterWriter
from commands.execution.executor import PlanExecutor
from commands.execution.plan import Plan, PlanState, StepState, inverse_of
from commands.execution.steps import Patch, Step
from commands.models import AuditEntry, CordonLease
from demo.lookalikes.kubernetes import KubernetesLookalike
from tests.support.execution import (
    CLUSTER,
    EFFECTS,
    LEASE,
    NOON,
    Answering,
    Crash,
    DyingStore,
    Noon,
    executor,
    furnished,
    journalled,
    plan_of,
    stored,
)
from tests.support.memory_store import MemoryStore

# The start, two per step, why the eviction and the order wait, the recorded row, three of the Job's row, and the end.
JOURNAL_WRITES = len(EFFECTS) + 6  # each begin with the end before it; rows of Jobs and waits; the end


@pytest.mark.parametrize("lands", [False, True], ids=["before the commit", "after the commit"])
@pytest.mark.parametrize("at", range(1, JOURNAL_WRITES + 2))  # the last one is never reached
async def test_after_a_crash_at_a_journal_write_each_step_is_done_exactly_once(
    kube: KubernetesLookalike, writer: ClusterWriter, at: int, lands: bool
) -> None:
    store = MemoryStore()
    plan = plan_of(*furnished(kube))
    async with store.unit() as unit:
        await unit.rows(Plan).put(plan)
    changes: Counter[tuple[str, str]] = Counter()
    stop = kube.store.listen(
        lambda change: changes.update([(change.type, change.after.tree["metadata"]["name"])])
    )
    died = False
    try:
        await executor(DyingStore(store, at, lands=lands), writer).execute(plan)
    except Crash:
        died = True
    assert died == (at <= JOURNAL_WRITES)
    over = await executor(store, writer).execute(await stored(store))
    stop()
    assert over.state is PlanState.DONE
    assert {one.state for one in await journalled(store, over)} == {StepState.DONE}
    assert changes == Counter(effect for effects in EFFECTS.values() for effect in effects)
    async with store.unit() as unit:
        assert await unit.rows(CordonLease).find() == [LEASE]
        assert [entry.what for entry in await unit.rows(AuditEntry).find()] == ["done"]


async def test_a_finished_plan_is_not_run_again(kube: KubernetesLookalike, writer: ClusterWriter) -> None:
    store = MemoryStore()
    over = await executor(store, writer).execute(plan_of(*furnished(kube)))
    before = len(kube.requests)
    again = await executor(store, writer).execute(over)
    assert again.state is PlanState.DONE
    assert len(kube.requests) == before


async def why_it_failed(step: Step, writer: ClusterWriter) -> str:
    """Return the error of a plan of the step, which fails."""
    over = await executor(MemoryStore(), writer).execute(plan_of(step))
    assert over.state is PlanState.FAILED
    return over.error


async def test_a_conflict_is_retried_with_the_current_object(
    kube: KubernetesLookalike, writer: ClusterWriter
) -> None:
    steps = furnished(kube)
    kube.fail(lambda seen: seen.method == "PATCH" and not seen.dry_run, 409, times=2)
    over = await executor(MemoryStore(), writer).execute(plan_of(steps[0]))
    assert over.state is PlanState.DONE
    assert len([seen for seen in kube.requests if seen.method == "PATCH"]) == 3


async def test_repeated_conflicts_fail_the_plan(kube: KubernetesLookalike, writer: ClusterWriter) -> None:
    steps = furnished(kube)
    kube.fail(lambda seen: seen.method == "PATCH", 409, times=100)
    assert "keeps being changed by another client" in await why_it_failed(steps[0], writer)


async def test_a_failed_precondition_stops_the_plan_and_reports_the_actual_value(
    kube: KubernetesLookalike, writer: ClusterWriter
) -> None:
    cordon, *others = furnished(kube)
    assert isinstance(cordon, Patch)
    cordon = structs.replace(cordon, body={**cordon.body, "metadata": {"annotations": {"by": "dana"}}})
    kube.patch("nodes", "", "gpu-a01", {"spec": {"unschedulable": True}})
    store = MemoryStore()
    over = await executor(store, writer).execute(plan_of(cordon, *others))
    assert over.state is PlanState.FAILED
    assert "spec.unschedulable is True now, not None as shown" in over.error
    assert [one.state.value for one in await journalled(store, over)] == ["failed"] + ["skipped"] * len(
        others
    )
    assert kube.get("configmaps", "default", "old") is not None


async def test_what_stands_already_is_not_written_and_not_reverted_by_an_undo(
    kube: KubernetesLookalike, writer: ClusterWriter
) -> None:
    cordon, store = furnished(kube)[0], MemoryStore()
    kube.patch("nodes", "", "gpu-a01", {"spec": {"unschedulable": True}})
    over = await executor(store, writer).execute(plan_of(cordon))
    assert over.state is PlanState.DONE
    assert not [seen for seen in kube.requests if seen.method == "PATCH" and seen.user == "bot"]
    (record,) = await journalled(store, over)
    assert inverse_of(cordon, record) is None


async def test_a_changed_replica_count_is_not_overwritten(
    kube: KubernetesLookalike, writer: ClusterWriter
) -> None:
    steps = furnished(kube)
    kube.patch("deployments", "default", "dns", {"spec": {"replicas": 7}})
    assert "has 7 replicas now, not 2" in await why_it_failed(steps[3], writer)


async def test_an_existing_object_of_others_is_not_adopted(
    kube: KubernetesLookalike, writer: ClusterWriter
) -> None:
    steps = furnished(kube)
    kube.create({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "new"}}, namespace="default")
    assert "already exists and was not created by this plan" in await why_it_failed(steps[1], writer)


async def test_another_object_of_the_same_name_is_not_deleted(
    kube: KubernetesLookalike, writer: ClusterWriter
) -> None:
    steps = furnished(kube)
    kube.delete("configmaps", "default", "old")
    kube.create({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "old"}}, namespace="default")
    store = MemoryStore()
    over = await executor(store, writer).execute(plan_of(steps[2]))
    assert over.state is PlanState.DONE
    assert "already gone" in (await journalled(store, over))[0].outcome
    assert kube.get("configmaps", "default", "old") is not None


async def test_a_wait_times_out_and_reports_the_last_value(
    kube: KubernetesLookalike, writer: ClusterWriter
) -> None:
    steps = furnished(kube)
    clock = Noon()
    over = await executor(MemoryStore(), writer, clock).execute(plan_of(steps[5]))
    assert over.state is PlanState.FAILED
    assert "timeout after 5 s; it is 2" in over.error
    assert clock.at - NOON <= timedelta(seconds=6)


async def test_a_clock_step_forward_ends_no_wait(kube: KubernetesLookalike, writer: ClusterWriter) -> None:
    wait, clock, polls = furnished(kube)[5], Noon(), 0
    passed = 0.0

    async def pause(seconds: float) -> None:
        nonlocal passed, polls
        passed, polls = passed + seconds, polls + 1
        clock.at += timedelta(hours=1)
        if polls == 3:
            kube.patch("deployments", "default", "dns", {"spec": {"replicas": 3}})

    executor = PlanExecutor(MemoryStore(), {CLUSTER: writer}, clock, pause, lambda: passed)
    over = await executor.execute(plan_of(wait))
    assert over.state is PlanState.DONE, over.error


async def test_a_cancelled_plan_stops_before_its_next_step(
    kube: KubernetesLookalike, writer: ClusterWriter
) -> None:
    store = MemoryStore()
    plan = plan_of(*furnished(kube))
    async with store.unit() as unit:
        await unit.rows(Plan).put(replace(plan, state=PlanState.CANCELLED, error="cancelled by eli"))
    over = await executor(store, writer).execute(plan)
    assert (over.state, over.error) == (PlanState.CANCELLED, "cancelled by eli")
    assert {one.state.value for one in await journalled(store, over)} == {"skipped"}
    assert not [seen for seen in kube.requests if seen.method != "GET"]


async def test_each_step_that_ends_is_counted_by_kind_and_state(
    kube: KubernetesLookalike, writer: ClusterWriter
) -> None:
    seen: list[tuple[str, str]] = []
    clock = Noon()
    runner = PlanExecutor(
        MemoryStore(),
        {CLUSTER: writer},
        clock,
        clock.pause,
        clock.monotonic,
        hooks=Answering(),
        observe=lambda kind, state: seen.append((kind, state)),
    )
    done = await runner.execute(plan_of(*furnished(kube)))
    assert seen == [(type(step).__name__.lower(), "done") for step in done.steps]
