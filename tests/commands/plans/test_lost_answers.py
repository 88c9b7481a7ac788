"""This file loses the cluster's answers: what took effect is journalled as done, and what nobody knows is said."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from bot.store.memory_store import MemoryStore
from collectors.facts.results import SourceError
from collectors.sources.kubernetes.client import KubernetesClient
from commands.plans.cluster_writer import ClusterWriter
from commands.plans.executor import RETRY_AFTER
from commands.plans.plan import PlanState, StepState
from demo.lookalikes.kubernetes import KubernetesLookalike
from tests.support.execution import LEASE, NOON, Noon, furnished, performer, plan_of

WRITES = ("patch", "create", "delete", "scale")


def lose(writer: ClusterWriter, method: str, *, times: int, lands: bool) -> Callable[[], int]:
    """Have the answers of a write lost so many times, after it took effect or before. Gives how often it was called."""
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


@pytest.mark.parametrize("lands", [True, False], ids=["it took effect", "it did not"])
async def test_a_plan_all_of_whose_answers_are_lost_once_is_done_with_every_step_once(
    kube: KubernetesLookalike, writer: ClusterWriter, lands: bool
) -> None:
    plan, store, changes = plan_of(*furnished(kube)), MemoryStore(), []
    for method in WRITES:
        lose(writer, method, times=1, lands=lands)
    stop = kube.store.listen(lambda change: changes.append(change.after.tree["metadata"]["name"]))
    over = await performer(store, writer).execute(plan)
    stop()
    assert over.state is PlanState.DONE, over.error
    assert sorted(changes) == ["dns", "gpu-a01", "new", "old"]
    async with store.unit() as unit:
        assert await unit.leases.find() == [LEASE]


async def test_what_was_made_though_the_answer_was_lost_is_known_by_its_uid(
    kube: KubernetesLookalike, writer: ClusterWriter
) -> None:
    plan = plan_of(furnished(kube)[1])
    lose(writer, "create", times=1, lands=True)
    over = await performer(MemoryStore(), writer).execute(plan)
    made = kube.get("configmaps", "default", "new")
    assert made is not None
    assert over.records[0].uid == made["metadata"]["uid"]


async def test_a_cluster_that_gives_no_answer_is_given_up_in_time_and_what_is_not_known_is_said(
    kube: KubernetesLookalike, writer: ClusterWriter
) -> None:
    plan, clock = plan_of(*furnished(kube)), Noon()
    calls = lose(writer, "patch", times=1000, lands=False)
    over = await performer(MemoryStore(), writer, clock).execute(plan)
    assert over.state is PlanState.FAILED
    assert over.records[0].state is StepState.FAILED
    assert over.error == (
        "kube gave no whole answer within 10 s. Whether this step was done is not known: "
        "look with `kubectl get node gpu-a01 -o yaml`"
    )
    assert calls() == len(RETRY_AFTER) + 1
    assert clock.at - NOON == timedelta(seconds=sum(RETRY_AFTER))


async def test_a_refusal_is_not_tried_again(kube: KubernetesLookalike, writer: ClusterWriter) -> None:
    plan, clock = plan_of(*furnished(kube)), Noon()
    kube.fail(lambda seen: seen.method == "PATCH", 403, times=100)
    over = await performer(MemoryStore(), writer, clock).execute(plan)
    assert (over.state, clock.at) == (PlanState.FAILED, NOON)
    assert "not known" not in over.error


async def test_what_is_refused_though_no_such_object_is_there_is_tried_again(
    kube: KubernetesLookalike, writer: ClusterWriter
) -> None:
    plan = plan_of(furnished(kube)[1])
    kube.fail(lambda seen: seen.method == "POST", 409, times=1)
    over = await performer(MemoryStore(), writer).execute(plan)
    assert over.state is PlanState.DONE, over.error
    kube.delete("configmaps", "default", "new")
    kube.fail(lambda seen: seen.method == "POST", 409, times=100)
    over = await performer(MemoryStore(), writer).execute(plan)
    assert over.state is PlanState.FAILED
    assert "configmap default/new could not be created" in over.error
    assert "not ours" not in over.error


async def test_an_answer_that_is_no_object_is_one_that_got_lost(
    kube: KubernetesLookalike, writer: ClusterWriter, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan, real, pages = plan_of(furnished(kube)[0]), KubernetesClient.call, [b"<html>", b"[]", b""]

    async def behind_a_proxy(self: KubernetesClient, *args: Any, **named: Any) -> bytes:
        answer = await real(self, *args, **named)
        return pages.pop() if pages else answer

    monkeypatch.setattr(KubernetesClient, "call", behind_a_proxy)
    over = await performer(MemoryStore(), writer).execute(plan)
    assert over.state is PlanState.DONE, over.error
    assert not pages
