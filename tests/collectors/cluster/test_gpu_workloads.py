"""Workloads with GPUs that are not trainings: every pod that takes GPUs belongs to the top of its owner chain."""

from dataclasses import replace
from typing import Any

import pytest

from collectors.cluster.inventory import Inventory
from collectors.cluster.memo import Memo
from collectors.cluster.objects import Deployment, Job, JobSet, Namespace, Pod, ReplicaSet, StatefulSet
from collectors.facts.subjects import Subject
from collectors.facts.topology import Topology
from collectors.gpu_workloads import GpuWorkloads
from collectors.topology_builder import build_topology
from collectors.trainings.catalogue import read_trainings
from tests.support.objects import gpus, inventory, node, owned, pod, read


def made(type_: Any, name: str, owners: Any = (), **meta: Any) -> Any:
    return read(type_, {"metadata": {"name": name, "namespace": "ml", "ownerReferences": owners, **meta}})


def by(kind: str, name: str, api: str, *, controller: bool = True) -> list[dict[str, Any]]:
    return [{"apiVersion": api, "kind": kind, "name": name, "uid": "u", "controller": controller}]


def on(host: str, name: str, owners: Any = (), count: int = 4, **parts: Any) -> Pod:
    spec = {"containers": [gpus(count)], **({"nodeName": host} if host else {})}
    status = {} if host else {"phase": "Pending"}
    return pod(name, "ml", spec=spec, status=status, ownerReferences=owners, **parts)


def topology_of(*things: Any) -> Topology:
    seen = inventory(node("gpu-1"), node("gpu-2"), *things)
    return build_topology(seen, read_trainings(seen), cluster="prod")


CHAINS = [
    ("a bare pod", "Pod", "p", (), []),
    ("a static pod", "Pod", "p", owned("Node", "gpu-1"), []),
    ("a StatefulSet", "StatefulSet", "llama", owned("StatefulSet", "llama"), [made(StatefulSet, "llama")]),
    (
        "a Deployment, through its ReplicaSet",
        "Deployment",
        "serve",
        owned("ReplicaSet", "serve-1"),
        [made(ReplicaSet, "serve-1", owned("Deployment", "serve")), made(Deployment, "serve")],
    ),
    (
        "a kind with an operator",
        "PyTorchJob.kubeflow.org",
        "resnet",
        by("PyTorchJob", "resnet", "kubeflow.org/v1"),
        [],
    ),
    ("a kind that nobody knows", "Sparkle.example.com", "s", by("Sparkle", "s", "example.com/v1"), []),
    (
        "an operator that marks no controller",
        "RayCluster.ray.io",
        "r",
        by("RayCluster", "r", "ray.io/v1", controller=False),
        [],
    ),
    (
        "an unknown kind above known ones",
        "TrainJob.trainer.kubeflow.org",
        "t",
        owned("Job", "t-node-0"),
        [
            made(Job, "t-node-0", owned("JobSet", "t")),
            made(JobSet, "t", by("TrainJob", "t", "trainer.kubeflow.org/v1alpha1")),
        ],
    ),
    (
        "a group whose leader is a pod",
        "LeaderWorkerSet.leaderworkerset.x-k8s.io",
        "lws",
        owned("StatefulSet", "lws-0"),
        [
            made(StatefulSet, "lws-0", owned("Pod", "lws-0")),
            made(Pod, "lws-0", owned("StatefulSet", "lws")),
            made(StatefulSet, "lws", by("LeaderWorkerSet", "lws", "leaderworkerset.x-k8s.io/v1")),
        ],
    ),
    (
        "another group's kind of a known name",
        "Job.batch.volcano.sh",
        "train",
        by("Job", "train", "batch.volcano.sh/v1alpha1"),
        [made(Job, "train")],
    ),
]


@pytest.mark.parametrize(
    ("kind", "name", "owners", "above"), [case[1:] for case in CHAINS], ids=[case[0] for case in CHAINS]
)
def test_a_pod_with_gpus_belongs_to(kind: str, name: str, owners: Any, above: list[Any]) -> None:
    topology = topology_of(on("gpu-1", "p", owners), *above)
    (found,) = topology.affected_by(Subject(node="gpu-1"))
    assert (found.id, found.gpus) == (f"ml/{kind}/{name}", 4)
    assert topology.affected_by(Subject(namespace="ml", pod="p")) == (found,)
    assert topology.affected_by(Subject(workload=found.id)) == (found,)
    assert list(topology.workloads) == [found.id]


def test_pods_of_one_unknown_owner_are_one_workload() -> None:
    owner = by("PyTorchJob", "resnet", "kubeflow.org/v1")
    topology = topology_of(*(on(f"gpu-{1 + index % 2}", f"resnet-{index}", owner) for index in range(3)))
    (found,) = topology.affected_by(Subject(node="gpu-2"))
    assert (found.gpus, topology.workloads[found.id].pods) == (12, 3)


def test_the_training_of_a_job_is_not_a_workload_of_its_own() -> None:
    template = {"spec": {"containers": [gpus(4)]}}
    job = read(Job, {"metadata": {"name": "detr", "namespace": "ml"}, "spec": {"template": template}})
    topology = topology_of(job, on("gpu-1", "detr-0", owned("Job", "detr")))
    assert [one.id for one in topology.affected_by(Subject(node="gpu-1"))] == ["ml/Job/detr"]
    assert len(topology.workloads) == 0


@pytest.mark.parametrize(
    "one",
    [
        pod("cpu", "ml"),
        pod("done", "ml", spec={"containers": [gpus(4)]}, status={"phase": "Succeeded"}),
        pod("odd", "ml", spec={"containers": [gpus("many")]}),
    ],
    ids=["takes no GPUs", "has ended", "asks for an unreadable amount"],
)
def test_no_workload_is_a_pod_that(one: Pod) -> None:
    topology = topology_of(one)
    assert list(topology.workloads) == []
    assert topology.affected_by(Subject(namespace="ml", pod=one.metadata.name)) == ()


def test_a_pod_that_waits_belongs_to_a_workload_that_holds_nothing() -> None:
    owners = owned("StatefulSet", "llama")
    topology = topology_of(made(StatefulSet, "llama"), on("", "llama-0", owners))
    assert topology.pods["ml", "llama-0"].workload == "ml/StatefulSet/llama"
    assert topology.workloads["ml/StatefulSet/llama"].gpus == 0
    assert topology.affected_by(Subject(node="gpu-1")) == ()


OWNER = {"yardmaster.io/owner": "ana"}


@pytest.mark.parametrize(
    ("top", "of_pod", "of_namespace", "expected"),
    [
        (OWNER, {}, {"owner": "who"}, "ana"),
        ({}, {"user": "bo"}, {"owner": "who"}, "bo"),
        ({}, {}, {"owner": "kim@example.com"}, "kim@example.com"),
        ({}, {}, {}, ""),
    ],
    ids=["its object", "its pods", "its namespace", "nobody"],
)
def test_the_owner_is_named_by(
    top: dict[str, str], of_pod: dict[str, str], of_namespace: dict[str, str], expected: str
) -> None:
    namespace = {"metadata": {"name": "ml", "labels": {"team": "vision"}, "annotations": of_namespace}}
    topology = topology_of(
        made(StatefulSet, "llama", annotations=top),
        on("gpu-1", "llama-0", owned("StatefulSet", "llama"), labels=of_pod),
        read(Namespace, namespace),
    )
    found = topology.workloads["ml/StatefulSet/llama"]
    assert (found.owner, found.team) == (expected, "vision")
    completed = topology.complete(Subject(namespace="ml", pod="llama-0"))
    assert (completed.workload, completed.owner, completed.team) == (found.id, expected, "vision")


def test_what_stands_is_read_once_however_many_pods_change_elsewhere() -> None:
    def reading(seen: Inventory) -> object:
        return GpuWorkloads(seen, lambda _: "")["ml/StatefulSet/llama"]

    first = inventory(made(StatefulSet, "llama"), on("gpu-1", "llama-0", owned("StatefulSet", "llama")))
    same = replace(first, memo=Memo(first.memo))
    assert reading(first) is reading(same)


@pytest.mark.parametrize(
    ("meta", "owner"),
    [
        ({"annotations": {"workflows.argoproj.io/creator": "mei"}}, "mei"),
        ({"labels": {"hub.jupyter.org/username": "mei"}}, "mei"),
        ({"annotations": {"example.com/submitted-by": "mei"}, "labels": {"owner": "ana"}}, "ana"),
        ({"annotations": {"a.com/creator": "mei", "b.com/creator": "ana"}}, ""),
        ({"annotations": {"a.com/creator": "system:serviceaccount:ml:runner"}}, ""),
        ({"labels": {"olm.owner": "operator.v1"}}, ""),
    ],
)
def test_an_owner_is_known_by_the_names_that_other_systems_give(meta: dict[str, Any], owner: str) -> None:
    facts = topology_of(on("gpu-1", "p", **meta)).workloads["ml/Pod/p"]
    assert facts.owner == owner
