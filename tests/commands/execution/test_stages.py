"""Stages: their order, what a failure stops, and what it does not."""

from dataclasses import replace

from commands.execution.cluster_writer import ClusterWriter
from commands.execution.object_refs import ObjectRef
from commands.execution.plan import PlanState, Stage, in_order
from commands.execution.steps import Create, Evict, Scale
from demo.lookalikes.kubernetes import KubernetesLookalike
from tests.support.execution import executor, journalled, plan_of
from tests.support.memory_store import MemoryStore


def a_config_map(name: str) -> Create:
    meta = {"name": name, "namespace": "default"}
    return Create(
        manifest={"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta}, description=f"create {name}"
    )


MISSING = Scale(
    ref=ObjectRef(api="apps/v1", kind="Deployment", name="missing", namespace="default"),
    description="scale what is missing",
    replicas=3,
    expected=2,
)


async def test_a_failure_stops_neither_its_side_by_side_stage_nor_runs_the_next_one(
    kube: KubernetesLookalike, writer: ClusterWriter
) -> None:
    store = MemoryStore()
    stages = (
        Stage(steps=(MISSING, a_config_map("a"), a_config_map("b")), at_once=2),
        *in_order(a_config_map("c")),
    )
    over = await executor(store, writer).execute(replace(plan_of(), stages=stages))
    assert (over.state, over.error) == (PlanState.FAILED, "deployment default/missing no longer exists")
    assert [one.state.value for one in await journalled(store, over)] == ["failed", "done", "done", "skipped"]
    assert kube.get("configmaps", "default", "c") is None


async def test_a_failure_in_a_stage_in_order_stops_it(
    kube: KubernetesLookalike, writer: ClusterWriter
) -> None:
    store = MemoryStore()
    over = await executor(store, writer).execute(plan_of(a_config_map("a"), MISSING, a_config_map("b")))
    assert [one.state.value for one in await journalled(store, over)] == ["done", "failed", "skipped"]


async def test_several_failures_are_counted(kube: KubernetesLookalike, writer: ClusterWriter) -> None:
    stage = Stage(steps=(MISSING, MISSING, MISSING), at_once=3)
    over = await executor(MemoryStore(), writer).execute(replace(plan_of(), stages=(stage,)))
    assert over.error == "deployment default/missing no longer exists (and 2 more steps)"


def test_the_hash_covers_what_was_decided_and_not_the_pods() -> None:
    def drain(*pods: str, limit: str = "10 at once") -> str:
        evictions = tuple(
            Evict(ref=ObjectRef(api="v1", kind="Pod", name=pod, namespace="d", uid=pod), description=pod)
            for pod in pods
        )
        stages = (*in_order(a_config_map("a")), *([Stage(steps=evictions, at_once=10)] if pods else ()))
        return replace(plan_of(), stages=stages, decided=("drain gpu-a01", limit)).hash

    assert drain("a", "b") == drain("c") == drain()
    assert drain("a") != drain("a", limit="20 at once")
