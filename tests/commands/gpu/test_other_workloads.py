"""GPUs of workloads that are not trainings: listed and found idle like a training's, and never requested as one's."""

from datetime import timedelta
from typing import Any

import pytest

from demo.lookalikes.kubernetes import KubernetesLookalike
from tests.commands.gpu.conftest import say_activity
from tests.support.yard import DANA, NOON, Yard

KINDS = {"StatefulSet": "apps/v1", "PyTorchJob": "kubeflow.org/v1", "Job": "batch.volcano.sh/v1alpha1"}


async def held(
    yard: Yard, kube: KubernetesLookalike, kind: str, name: str, *, pods: int = 1, gpus: int = 4
) -> None:
    """Create idle pods with GPUs, bare ones if there is no kind, and wait until the cache shows them."""
    container = {"name": "main", "image": "i", "resources": {"limits": {"nvidia.com/gpu": str(gpus)}}}
    namespace = f"of-{name}"
    labels = {"metadata": {"name": namespace, "labels": {"team": "serving"}}}
    kube.create({"apiVersion": "v1", "kind": "Namespace", **labels})
    names = [f"{name}-{index}" for index in range(pods)] if kind else [name]
    for pod in names:
        meta: dict[str, Any] = {
            "name": pod,
            "namespace": namespace,
            "annotations": {"yardmaster.io/owner": "mei"},
        }
        if kind:
            owner = {"apiVersion": KINDS[kind], "kind": kind, "name": name, "uid": f"uid-{name}"}
            meta["ownerReferences"] = [{**owner, "controller": True}]
        spec = {"nodeName": "gpu-a01", "containers": [container]}
        kube.create({"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec})
        start = {"phase": "Running", "startTime": f"{NOON - timedelta(hours=3):%Y-%m-%dT%H:%M:%SZ}"}
        kube.patch("pods", namespace, pod, {"status": start}, status=True)
    known = yard.cluster.topology
    await yard.seen(lambda: all((namespace, pod) in known().pods for pod in names))
    await yard.seen(lambda: all(known().pods[namespace, pod].phase == "Running" for pod in names))
    devices = [
        {"exported_namespace": namespace, "exported_pod": pod, "UUID": f"GPU-{pod}-{gpu}"}
        for pod in names
        for gpu in range(gpus)
    ]
    say_activity(yard, [(labels, 0.0) for labels in devices])


CASES = [
    ("StatefulSet", "StatefulSet of-llama/llama", "kubectl -n of-llama scale statefulset llama --replicas=0"),
    ("PyTorchJob", "PyTorchJob of-llama/llama", "kubectl -n of-llama describe pytorchjob llama"),
    ("Job", "Job.batch.volcano.sh of-llama/llama", "kubectl -n of-llama describe job.batch.volcano.sh llama"),
    ("", "Pod of-llama/llama", "kubectl -n of-llama delete pod llama"),
]


@pytest.mark.parametrize(("kind", "shown", "way"), CASES, ids=[case[0] or "bare pod" for case in CASES])
async def test_an_idle_workload_is_listed_with_its_owner_and_what_its_owner_can_do(
    yard: Yard, kube: KubernetesLookalike, kind: str, shown: str, way: str
) -> None:
    await held(yard, kube, kind, "llama")
    reply = await yard.say("gpu idle", DANA)
    assert f"{shown} | mei | serving | nvidia.com/gpu | 4 of 4" in reply
    assert f"{shown} is not a training: " in reply
    assert way in reply
    assert "gpu free" not in reply


async def test_pods_of_one_owner_are_one_row(yard: Yard, kube: KubernetesLookalike) -> None:
    await held(yard, kube, "PyTorchJob", "resnet", pods=2)
    assert "PyTorchJob of-resnet/resnet | mei | serving | nvidia.com/gpu | 8 of 8" in await yard.say(
        "gpu idle", DANA
    )
    listed = await yard.say("gpu list", DANA)
    assert "serving | 8 | 8" in listed
    assert "resnet 8" in listed
    assert "GPUs of 1 of 3 nodes" in await yard.say("gpu list --team serving", DANA)


@pytest.mark.parametrize("name", ["llama", "of-llama/llama", "of-llama/StatefulSet/llama"])
async def test_gpus_are_not_requested_of_a_workload_that_cannot_be_suspended(
    yard: Yard, kube: KubernetesLookalike, name: str
) -> None:
    await held(yard, kube, "StatefulSet", "llama")
    reply = await yard.say(f"gpu free {name}", DANA)
    assert "StatefulSet of-llama/llama is not a training, so its GPUs cannot be requested" in reply
    assert "--replicas=0" in reply
    assert await yard.newest() is None


async def test_without_an_idle_training_the_answer_names_what_is_idle(
    yard: Yard, kube: KubernetesLookalike
) -> None:
    await held(yard, kube, "StatefulSet", "llama")
    reply = await yard.say("gpu free", DANA)
    assert "There is nothing to request: StatefulSet of-llama/llama is not a training" in reply


async def test_the_preview_of_a_cordon_and_of_a_drain_name_it(yard: Yard, kube: KubernetesLookalike) -> None:
    await held(yard, kube, "StatefulSet", "llama")
    cordon = await yard.plan("node cordon gpu-a01")
    assert any(
        note.startswith("StatefulSet of-llama/llama of mei (4 GPUs) runs on gpu-a01") for note in cordon.notes
    )
    drain = await yard.plan("node drain gpu-a01")
    assert [str(one) for one in drain.disrupts] == ["StatefulSet of-llama/llama of mei: 1 pod, 4 GPUs"]
    assert "workload" in await yard.say("node show gpu-a01")
