"""Lost responses of the cluster: effects are journalled as done, unknown outcomes are reported."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from collectors.facts.results import SourceError
from collectors.sources.kubernetes.client import KubernetesClient
from commands.execution.cluster_writer import ClusterWriter
from commands.execution.plan import PlanState, StepRecord, StepState
from commands.execution.step_runner import RETRY_AFTER
from commands.execution.steps import Record
from commands.models import CordonLease
from demo.lookalikes.kubernetes import KubernetesLookalike
from tests.support.execution import EFFECTS, LEASE, NOON, Noon, executor, furnished, journalled, plan_of
from tests.support.memory_store import MemoryStore

WRITES = ("patch", "create", "delete", "scale", "evict")


def lose(writer: ClusterWriter, method: str, *, times: int, lands: bool) -> Callable[[], int]:
    """Lose this many responses of a write, after it took effect or before. Returns a counter of its calls."""
    real, calls = getattr(writer, method), 0

    async def losing(*args: Any, **named: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls > times:
            return await real(*args, **named)
        if lands:
            await real(*args, **named)
        raise SourceError("kube gave no whole answer within 10 s")

    setattr(writer, method, losing)
    return lambda: calls


@pytest.mark.parametrize("lands", [True, False], ids=["took effect", "no effect"])
async def test_a_plan_with_every_response_lost_once_does_each_step_once(
    kube: KubernetesLookalike, writer: ClusterWriter, lands: bool
) -> None:
    plan, store, changes = plan_of(*furnished(kube)), MemoryStore(), []
    for method in WRITES:
        lose(writer, method, times=1, lands=lands)
    stop = kube.store.listen(lambda change: changes.append(change.after.tree["metadata"]["name"]))
    over = await executor(store, writer).execute(plan)
    stop()
    assert over.state is PlanState.DONE, over.error
    assert sorted(changes) == sorted(name for effects in EFFECTS.values() for _, name in effects)
    async with store.unit() as unit:
        assert await unit.rows(CordonLease).find() == [LEASE]


async def test_an_object_created_despite_a_lost_response_is_known_by_its_uid(
    kube: KubernetesLookalike, writer: ClusterWriter
) -> None:
    plan, store = plan_of(furnished(kube)[1]), MemoryStore()
    lose(writer, "create", times=1, lands=True)
    over = await executor(store, writer).execute(plan)
    made = kube.get("configmaps", "default", "new")
    assert made is not None
    assert (await journalled(store, over))[0].uid == made["metadata"]["uid"]


async def test_a_silent_cluster_fails_the_plan_in_time_with_an_unknown_outcome(
    kube: KubernetesLookalike, writer: ClusterWriter
) -> None:
    plan, clock, store = plan_of(*furnished(kube)), Noon(), MemoryStore()
    calls = lose(writer, "patch", times=1000, lands=False)
    over = await executor(store, writer, clock).execute(plan)
    assert over.state is PlanState.FAILED
    states = [record.state for record in await journalled(store, over)]
    others = [
        StepState.WAITING if isinstance(step, Record) else StepState.SKIPPED  # it records the first
        for step in plan.steps[1:]
    ]
    assert states == [StepState.UNKNOWN, *others]
    assert over.error == (
        "kube gave no whole answer within 10 s. It is not known whether this step was done: cordon. Yardmaster "
        "looks again once the cluster answers; to look yourself, run `kubectl get node gpu-a01 -o yaml`"
    )
    assert calls() == len(RETRY_AFTER) + 1
    assert clock.at - NOON == timedelta(seconds=sum(RETRY_AFTER))


async def test_a_refusal_is_not_retried(kube: KubernetesLookalike, writer: ClusterWriter) -> None:
    plan, clock = plan_of(*furnished(kube)), Noon()
    kube.fail(lambda seen: seen.method == "PATCH", 403, times=100)
    over = await executor(MemoryStore(), writer, clock).execute(plan)
    assert (over.state, clock.at) == (PlanState.FAILED, NOON)
    assert "not known" not in over.error


async def test_a_conflict_without_an_existing_object_is_retried(
    kube: KubernetesLookalike, writer: ClusterWriter
) -> None:
    plan = plan_of(furnished(kube)[1])
    kube.fail(lambda seen: seen.method == "POST", 409, times=1)
    over = await executor(MemoryStore(), writer).execute(plan)
    assert over.state is PlanState.DONE, over.error
    kube.delete("configmaps", "default", "new")
    kube.fail(lambda seen: seen.method == "POST", 409, times=100)
    over = await executor(MemoryStore(), writer).execute(plan)
    assert over.state is PlanState.FAILED
    assert "configmap default/new could not be created" in over.error
    assert "not ours" not in over.error


async def test_a_response_that_is_not_an_object_counts_as_lost(
    kube: KubernetesLookalike, writer: ClusterWriter, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan, real, pages = plan_of(furnished(kube)[0]), KubernetesClient.call, [b"<html>", b"[]", b""]

    async def behind_a_proxy(self: KubernetesClient, *args: Any, **named: Any) -> bytes:
        answer = await real(self, *args, **named)
        return pages.pop() if pages else answer

    monkeypatch.setattr(KubernetesClient, "call", behind_a_proxy)
    over = await executor(MemoryStore(), writer).execute(plan)
    assert over.state is PlanState.DONE, over.error
    assert not pages


@pytest.mark.parametrize("times", [1, 3])
async def test_a_delete_that_meets_conflicts_is_tried_again(
    kube: KubernetesLookalike, writer: ClusterWriter, times: int
) -> None:
    kube.fail(lambda seen: seen.method == "DELETE", 409, times=times)
    over = await executor(MemoryStore(), writer).execute(plan_of(furnished(kube)[2]))
    assert over.state is PlanState.DONE, over.error
    assert kube.get("configmaps", "default", "old") is None


async def test_a_delete_that_always_meets_a_conflict_is_given_up_as_not_done(
    kube: KubernetesLookalike, writer: ClusterWriter
) -> None:
    kube.fail(lambda seen: seen.method == "DELETE", 409, times=1000)
    over = await executor(MemoryStore(), writer).execute(plan_of(furnished(kube)[2]))
    assert over.state is PlanState.FAILED
    assert "delete old: timeout after 38 s" in over.error
    assert "not known" not in over.error


async def test_a_wait_that_was_cut_off_and_gets_no_answer_was_not_fulfilled(
    kube: KubernetesLookalike, writer: ClusterWriter
) -> None:
    plan, store = plan_of(furnished(kube)[5]), MemoryStore()
    begun = StepRecord(plan=plan.id, number=0, cluster=plan.cluster, state=StepState.RUNNING)
    async with store.unit() as unit:
        await unit.rows(StepRecord).put(begun)
    lose(writer, "read", times=1000, lands=False)
    over = await executor(store, writer).execute(plan)
    assert [one.state for one in await journalled(store, over)] == [StepState.FAILED]


async def test_a_write_that_cannot_be_checked_because_the_rights_are_gone_is_unknown(
    kube: KubernetesLookalike, writer: ClusterWriter
) -> None:
    plan, store = plan_of(furnished(kube)[0]), MemoryStore()
    real = writer.patch

    async def patch(*args: Any, **named: Any) -> Any:
        await real(*args, **named)
        kube.fail(lambda seen: seen.method == "GET", 403, times=1)
        raise SourceError("kube gave no whole answer within 10 s")

    writer.patch = patch  # type: ignore[method-assign]
    over = await executor(store, writer).execute(plan)
    assert [one.state for one in await journalled(store, over)] == [StepState.UNKNOWN]
    assert "answered 403" in over.error
    assert "It is not known whether this step was done" in over.error
