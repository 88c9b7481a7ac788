"""Stopping a training: its top controllers, by uid, and nothing else."""

import pytest

from collectors.cluster.kinds import PERSISTENT_VOLUME_CLAIMS
from commands.execution.plan import PlanState
from commands.execution.steps import Delete
from commands.training.stop import deleted_with_namespace
from demo.lookalikes.kubernetes import KubernetesLookalike
from tests.support.objects import inventory
from tests.support.yard import ANA, DANA, NOON, Yard

LAUNCH = "training launch mnist --image registry.example/mnist:7 --workers 2 --gpus 4 --ps 1"
JOB_OF_OTHERS = {
    "apiVersion": "batch/v1",
    "kind": "Job",
    "metadata": {"name": "detr-worker", "namespace": "vision-detr", "labels": {"owner": "mei"}},
    "spec": {
        "completionMode": "Indexed",
        "parallelism": 2,
        "completions": 2,
        "template": {
            "spec": {
                "restartPolicy": "Never",
                "containers": [
                    {"name": "main", "image": "i", "resources": {"limits": {"nvidia.com/gpu": "2"}}}
                ],
            }
        },
    },
}


def a_training_of_others(kube: KubernetesLookalike) -> None:
    labels = {"training": "detr", "team": "vision"}
    kube.create(
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "vision-detr", "labels": labels}}
    )
    kube.create(JOB_OF_OTHERS)
    service = {"name": "detr-worker", "namespace": "vision-detr"}
    kube.create({"apiVersion": "v1", "kind": "Service", "metadata": service, "spec": {"clusterIP": "None"}})


async def launched(yard: Yard, ranks: int = 3) -> None:
    await yard.do(LAUNCH, ANA)
    await yard.seen(lambda: any(len(view.ranks) == ranks for view in yard.cluster.trainings()))


async def test_a_training_is_deleted_with_the_namespace_that_we_created(
    yard: Yard, kube: KubernetesLookalike
) -> None:
    await launched(yard)
    space = kube.get("namespaces", "", "mnist")
    assert space is not None
    plan = await yard.plan("training stop mnist", ANA)
    (step,) = plan.steps
    assert isinstance(step, Delete)
    assert (step.ref.kind, step.ref.name, step.ref.uid) == ("Namespace", "mnist", space["metadata"]["uid"])
    assert [str(one) for one in plan.disrupts] == ["mnist/mnist of ana: 3 ranks, 8 GPUs"]
    done = await yard.executor.execute(await yard.confirmed(plan, ANA))
    assert done.state is PlanState.DONE, done.error
    gone = kube.get("namespaces", "", "mnist")
    assert gone is None or gone["metadata"]["deletionTimestamp"]


async def test_a_namespace_can_be_kept_and_used_again(yard: Yard, kube: KubernetesLookalike) -> None:
    await launched(yard)
    plan = await yard.do("training stop mnist --keep-namespace", ANA)
    assert plan.state is PlanState.DONE, plan.error
    assert {step.ref.kind for step in plan.steps if isinstance(step, Delete)} == {
        "Job",
        "Deployment",
        "Service",
    }
    assert kube.get("namespaces", "", "mnist")["metadata"].get("deletionTimestamp") is None  # type: ignore[index]
    assert not kube.list("services", "mnist")
    await yard.seen(lambda: not any(view.workloads for view in yard.cluster.trainings()))
    again = await yard.do(LAUNCH, ANA)
    assert again.state is PlanState.DONE, again.error


async def test_only_the_controllers_of_a_training_of_others_are_deleted(
    yard: Yard, kube: KubernetesLookalike
) -> None:
    a_training_of_others(kube)
    await yard.seen(lambda: any(len(view.ranks) == 2 for view in yard.cluster.trainings()))
    plan = await yard.do("training stop detr", DANA)
    assert plan.state is PlanState.DONE, plan.error
    assert [(step.ref.kind, step.ref.name) for step in plan.steps if isinstance(step, Delete)] == [
        ("Job", "detr-worker")
    ]
    assert kube.get("jobs", "vision-detr", "detr-worker") is None
    assert kube.get("services", "vision-detr", "detr-worker") is not None


async def test_the_plan_shows_the_age_of_the_checkpoint_but_the_hash_ignores_it(yard: Yard) -> None:
    await launched(yard)
    saved = NOON.timestamp() - 12 * 60
    yard.prometheus.say("training_checkpoint_timestamp_seconds", samples=[({}, saved)])
    first = await yard.plan("training stop mnist", ANA)
    assert any("12 min old" in note for note in first.notes)
    yard.prometheus.say("training_checkpoint_timestamp_seconds", samples=[({}, saved - 600)])
    second = await yard.plan("training stop mnist", ANA)
    assert any("22 min old" in note for note in second.notes)
    assert first.hash == second.hash


@pytest.mark.parametrize(
    ("name", "error"),
    [
        pytest.param("mnits", "Did you mean mnist", id="a typo"),
        pytest.param("nothing", "There is no training nothing", id="unknown"),
    ],
)
async def test_an_unknown_training_is_refused_by_name(yard: Yard, name: str, error: str) -> None:
    await launched(yard)
    assert error in await yard.say(f"training stop {name}", ANA)


async def test_an_ambiguous_name_is_refused(yard: Yard, kube: KubernetesLookalike) -> None:
    a_training_of_others(kube)
    other = {**JOB_OF_OTHERS, "metadata": {"name": "detr", "namespace": "default"}}
    kube.create(other)
    await yard.seen(lambda: len(yard.cluster.trainings()) == 2)
    reply = await yard.say("training show detr", DANA)
    assert "default/detr" in reply
    assert "vision-detr/detr" in reply


def test_volume_claims_that_cannot_be_seen_are_reported() -> None:
    (note,) = deleted_with_namespace("mnist", inventory(missing={PERSISTENT_VOLUME_CLAIMS.name: "forbidden"}))
    assert "not known" in note


@pytest.mark.parametrize(
    "saved", [float("nan"), float("inf"), float("-inf"), 1e300, 1.7e15, 0.0, -9e9], ids=str
)
async def test_a_checkpoint_time_that_is_none_does_not_prevent_a_stop(yard: Yard, saved: float) -> None:
    await launched(yard)
    yard.prometheus.say("training_checkpoint_timestamp_seconds", samples=[({}, saved)])

    plan = await yard.plan("training stop mnist", ANA)

    assert any("last checkpoint is not known" in note for note in plan.notes)
