"""`pod delete` and `pod clean`: exactly what was shown, whose it is, and what stays."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from commands.execution.plan import PlanState, Risk
from commands.pod.clean import MOST
from demo.lookalikes.kubernetes import KubernetesLookalike
from tests.commands.pod.conftest import lose_node
from tests.support.yard import ANA, DANA, Yard

OLD = {"lastTransitionTime": "2026-11-21T09:00:00Z"}
LATE = {"lastTransitionTime": "2026-11-21T11:59:00Z"}
OWNED = [{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web", "uid": "u-1", "controller": True}]


def ended(phase: str = "Failed", when: Any = OLD, **more: Any) -> dict[str, Any]:
    return {"phase": phase, "conditions": [{"type": "Ready", "status": "False", **when}], **more}


async def test_a_pod_is_deleted_and_waited_for(
    yard: Yard, kube: KubernetesLookalike, add_pod: Callable[..., Any]
) -> None:
    await add_pod("web-0", ownerReferences=OWNED)
    plan = await yard.plan("pod delete web-0")
    assert plan.risk is Risk.TOUCH
    assert "Its ReplicaSet web decides whether another one is made." in plan.notes
    over = await yard.executor.execute(await yard.confirmed(plan))
    assert over.state is PlanState.DONE, over.error
    await yard.seen(lambda: not yard.cluster.inventory().pods)


async def test_another_pod_that_got_the_name_meanwhile_is_left(
    yard: Yard, kube: KubernetesLookalike, add_pod: Callable[..., Any]
) -> None:
    first = await add_pod("web-0", ownerReferences=OWNED)
    plan = await yard.plan("pod delete web-0")
    stored = await yard.confirmed(plan)
    kube.delete("pods", "work", "web-0")
    second = await add_pod("web-0", ownerReferences=OWNED)
    assert second["metadata"]["uid"] != first["metadata"]["uid"]
    over = await yard.executor.execute(stored)
    assert over.state is PlanState.DONE, over.error
    left = kube.get("pods", "work", "web-0")
    assert left is not None
    assert left["metadata"]["uid"] == second["metadata"]["uid"]


async def test_a_running_pod_without_a_controller_needs_a_second_person_but_for_its_owner(
    yard: Yard, add_pod: Callable[..., Any]
) -> None:
    await add_pod("notebook", labels={"owner": "ana", "team": "vision"})
    plan = await yard.plan("pod delete notebook")
    assert plan.risk is Risk.BREAK
    assert "No controller recreates it: it is gone for good." in plan.notes
    own = await yard.plan("pod delete notebook", replace(DANA, teams=frozenset({"sre", "vision"})))
    assert own.risk is Risk.TOUCH


async def test_a_running_training_of_others_needs_a_second_person(
    yard: Yard, add_training: Callable[..., Any]
) -> None:
    await add_training(1, gpus=8)
    plan = await yard.plan("pod delete detr-0")
    assert plan.risk is Risk.BREAK
    assert [str(one) for one in plan.disrupts] == ["work/detr of ana: 1 of 1 rank, 8 GPUs"]


async def test_a_static_pod_and_one_that_ends_already_are_answered_in_words(
    yard: Yard, kube: KubernetesLookalike, add_pod: Callable[..., Any]
) -> None:
    await add_pod("static", annotations={"kubernetes.io/config.mirror": "x"})
    assert "only the kubelet of gpu-a01 ends it" in await yard.say("pod delete static")
    await add_pod("stuck", finalizers=["example.com/hold"])
    kube.delete("pods", "work", "stuck")
    await yard.seen(
        lambda: yard.cluster.inventory().pods["work/stuck"].metadata.deletion_timestamp is not None
    )
    assert "work/stuck has been terminating since" in await yard.say("pod delete stuck")


async def test_on_a_lost_node_nothing_is_forced_and_the_answer_says_what_a_person_does(
    yard: Yard, kube: KubernetesLookalike, add_pod: Callable[..., Any]
) -> None:
    await add_pod("web-0", ownerReferences=OWNED)
    await lose_node(kube, yard)
    plan = await yard.plan("pod delete web-0")
    assert len(plan.steps) == 1
    said = "\n".join(plan.notes)
    assert "Yardmaster deletes nothing by force" in said
    assert "kubectl taint node gpu-a01 node.kubernetes.io/out-of-service=nodeshutdown:NoExecute" in said


async def test_who_may_not_is_refused(yard: Yard, add_pod: Callable[..., Any]) -> None:
    await add_pod("web-0")
    assert "may run" in await yard.say("pod delete web-0", ANA)


async def test_clean_deletes_what_ended_long_ago_and_keeps_what_somebody_reads(
    yard: Yard, kube: KubernetesLookalike, add_pod: Callable[..., Any]
) -> None:
    await add_pod("evicted", status=ended(reason="Evicted", message="The node was low on resource: memory."))
    await add_pod("done", status=ended("Succeeded"))
    await add_pod("late", status=ended(when=LATE))
    await add_pod("runs")
    foreign = [
        {"apiVersion": "ray.io/v1", "kind": "RayCluster", "name": "ray", "uid": "u", "controller": True}
    ]
    await add_pod("ray-head", status=ended("Succeeded"), ownerReferences=foreign)
    goes_on = kube.create(
        {
            "apiVersion": "batch/v1",
            "kind": "Job",
            "metadata": {"name": "etl"},
            "spec": {
                "completions": 2,
                "template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "m", "image": "i"}]}},
            },
        },
        namespace="work",
    )
    of_job = [
        {
            "apiVersion": "batch/v1",
            "kind": "Job",
            "name": "etl",
            "uid": goes_on["metadata"]["uid"],
            "controller": True,
        }
    ]
    await add_pod("etl-0", status=ended("Succeeded"), ownerReferences=of_job)

    plan = await yard.plan("pod clean")

    assert sorted(step.ref.name for step in plan.steps if hasattr(step, "ref")) == ["done", "evicted"]
    assert "1 pod of a Job that goes on stays." in plan.notes
    assert "1 pod stays, as its own controller may still read it." in plan.notes
    assert "Their logs go with them: the settings name no log store." in plan.notes
    over = await yard.executor.execute(await yard.confirmed(plan))
    assert over.state is PlanState.DONE, over.error
    await yard.seen(lambda: len(yard.cluster.inventory().pods) == 4)
    assert [
        step.ref.name for step in (await yard.plan("pod clean --older 10s")).steps if hasattr(step, "ref")
    ] == ["late"]


async def test_clean_is_bounded_and_says_what_is_left(yard: Yard, add_pod: Callable[..., Any]) -> None:
    for number in range(MOST + 3):
        await add_pod(f"old-{number:03}", status=ended(reason="Evicted"))
    plan = await yard.plan("pod clean --evicted")
    assert len(plan.steps) == MOST
    assert any("3 more pods are left for next time" in note for note in plan.notes)


async def test_clean_takes_the_filters_and_has_nothing_to_do_without_such_pods(
    yard: Yard, add_pod: Callable[..., Any]
) -> None:
    await add_pod("done", status=ended("Succeeded"))
    await add_pod("evicted", node="gpu-a02", status=ended(reason="Evicted"))
    assert [s.description for s in (await yard.plan("pod clean --evicted")).steps] == [
        "delete work/evicted (Evicted)"
    ]
    assert [s.description for s in (await yard.plan("pod clean --node gpu-a01")).steps] == [
        "delete work/done (Succeeded)"
    ]
    assert "No pod has finished or was evicted longer than 1 d ago." in await yard.say("pod clean --older 1d")
