"""Top controllers of pods, the topology, and the completion of subjects."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from collectors.cluster.inventory import Inventory
from collectors.cluster.objects import (
    Deployment,
    Job,
    Namespace,
    PersistentVolumeClaim,
    ReplicaSet,
    StatefulSet,
)
from collectors.facts.label_mapping import subject_of
from collectors.facts.places import PLACE_LABELS
from collectors.facts.subjects import Subject
from collectors.facts.topology import Topology
from collectors.topology_builder import build_topology
from collectors.trainings.catalogue import read_trainings
from collectors.trainings.training import Rank, Training, TrainingState
from tests.support.objects import NOW, gpus, inventory, node, owned, pod, read
from tests.support.trainings import a_training

INDEX = "batch.kubernetes.io/job-completion-index"


def made(type_: Any, name: str, namespace: str = "default", **parts: Any) -> Any:
    metadata = {"name": name, "namespace": namespace, **parts.pop("metadata", {})}
    return read(type_, {"metadata": metadata, **parts})


OWNERS = [
    (
        "a pod of a Deployment",
        [
            made(ReplicaSet, "ps-7b6f", metadata={"ownerReferences": owned("Deployment", "ps")}),
            made(Deployment, "ps"),
        ],
        "ReplicaSet",
        "ps-7b6f",
        "default/Deployment/ps",
    ),
    ("a pod of a Job", [made(Job, "worker")], "Job", "worker", "default/Job/worker"),
    (
        "a pod of a CronJob",
        [made(Job, "nightly-1", metadata={"ownerReferences": owned("CronJob", "nightly")})],
        "Job",
        "nightly-1",
        "default/CronJob/nightly",
    ),
    ("a pod of a StatefulSet", [made(StatefulSet, "db")], "StatefulSet", "db", "default/StatefulSet/db"),
    ("a pod whose ReplicaSet cannot be seen", [], "ReplicaSet", "ps-7b6f", "default/Deployment/ps"),
    ("a static pod", [], "Node", "n1", ""),
    ("a pod with an owner of an unknown kind", [], "Sparkle", "s", "default/Sparkle/s"),
    (
        "a pod with a cycle of owners",
        [made(Job, "a", metadata={"ownerReferences": owned("Job", "a")})],
        "Job",
        "a",
        "default/Job/a",
    ),
]


@pytest.mark.parametrize(
    ("above", "kind", "name", "top"), [case[1:] for case in OWNERS], ids=[case[0] for case in OWNERS]
)
def test_the_top_controller_of_a_pod_is(above: list[Any], kind: str, name: str, top: str) -> None:
    one = pod("p", ownerReferences=owned(kind, name), labels={"pod-template-hash": "7b6f"})
    seen = inventory(one, *above)
    assert seen.workload_of(one) == top
    if top:
        assert seen.pods_of(top) == (one,)


def test_a_bare_pod_has_no_controller() -> None:
    one = pod("p")
    assert inventory(one).workload_of(one) == ""


def cluster() -> Inventory:
    """One training with two ranks on two nodes, and an exporter."""
    both = [{"type": "InternalIP", "address": one} for one in ("10.0.0.11", "fd00::a:11")]
    address = {"status": {"addresses": both}}
    worker = {"spec": {"containers": [gpus(8)]}}
    return inventory(
        node(
            "gpu-a01",
            labels={"topology.kubernetes.io/rack": "rack-a", "nvidia.com/gpu.product": "NVIDIA-H200"},
            **address,
        ),
        node("gpu-b01", labels={"rack": "rack-b"}, spec={"unschedulable": True}),
        read(
            Namespace,
            {
                "metadata": {
                    "name": "vision-detr",
                    "labels": {"training": "detr", "team": "vision"},
                    "annotations": {"yardmaster.io/owner": "ana"},
                }
            },
        ),
        made(
            Job, "detr-worker", "vision-detr", spec={"parallelism": 2, "completions": 2, "template": worker}
        ),
        *(
            pod(
                f"detr-worker-{index}",
                "vision-detr",
                labels={INDEX: str(index)},
                ownerReferences=owned("Job", "detr-worker"),
                spec={"nodeName": host, "containers": [gpus(8)]},
                status={"podIP": f"10.244.{index}.20"},
            )
            for index, host in enumerate(["gpu-a01", "gpu-b01"])
        ),
        pod(
            "dcgm-exporter-6ldbb",
            "monitoring",
            ownerReferences=owned("DaemonSet", "dcgm-exporter"),
            spec={"nodeName": "gpu-b01"},
            status={"podIP": "10.244.1.7"},
        ),
    )


@pytest.fixture
def topology() -> Topology:
    seen = cluster()
    return build_topology(seen, read_trainings(seen), cluster="prod-a")


def test_nodes_pods_and_trainings_are_in_the_topology(topology: Topology) -> None:
    assert topology.as_of == NOW
    first, second = topology.nodes["gpu-a01"], topology.nodes["gpu-b01"]
    assert (first.rack, first.gpus, first.gpu_product, first.is_ready) == ("rack-a", 8, "NVIDIA-H200", True)
    assert (second.rack, second.is_cordoned) == ("rack-b", True)
    training = topology.trainings["vision-detr/Namespace/vision-detr"]
    assert (training.owner, training.team, training.gpus, training.ranks) == ("ana", "vision", 16, 2)
    one = topology.pods["vision-detr", "detr-worker-1"]
    assert (one.training, one.workload, one.gpus) == (
        "vision-detr/Namespace/vision-detr",
        "vision-detr/Job/detr-worker",
        8,
    )
    assert {found.name for found in topology.pods_on["gpu-b01"]} == {"detr-worker-1", "dcgm-exporter-6ldbb"}


def test_what_a_node_is_a_part_of_is_read_from_its_labels() -> None:
    labels = {"rack": "r1", "nvidia.com/gpu.clique": "c0ffee.1", "example.com/feed": "p2", "other": "x"}
    seen = inventory(node("gpu-a01", labels=labels))
    more = {**PLACE_LABELS, "power_zone": ("example.com/feed", *PLACE_LABELS["power_zone"])}
    (known,) = build_topology(seen, (), cluster="prod-a").nodes.values()
    (added,) = build_topology(seen, (), cluster="prod-a", places=more).nodes.values()
    assert (known.rack, known.places) == ("r1", {"nvlink_domain": "c0ffee.1"})
    assert added.place("power_zone") == "p2"
    assert (added.place("rack"), added.place("switch")) == ("r1", "")


def mounting(index: int, name: str, *, read_only: bool) -> Any:
    volumes = [
        {"name": "shm"},
        {"name": "v", "persistentVolumeClaim": {"claimName": name, "readOnly": read_only}},
    ]
    return pod(
        f"detr-worker-{index}",
        "vision-detr",
        ownerReferences=owned("Job", "detr-worker"),
        spec={"nodeName": "gpu-a01", "volumes": volumes},
    )


def test_a_claim_names_its_trainings_and_those_that_may_write() -> None:
    seen = inventory(
        made(Job, "detr-worker", "vision-detr", spec={"template": {"spec": {"containers": [gpus(8)]}}}),
        mounting(0, "images", read_only=True),
        mounting(1, "ckpt", read_only=False),
        made(PersistentVolumeClaim, "ckpt", "vision-detr", spec={"volumeName": "pvc-1"}),
        made(PersistentVolumeClaim, "unused", "vision-detr"),
    )
    topology = build_topology(seen, read_trainings(seen), cluster="prod-a")
    (training,) = topology.trainings

    assert topology.claims["pvc-1"] == topology.claims["vision-detr/ckpt"]
    assert (topology.claims["pvc-1"].name, topology.claims["pvc-1"].writers) == (
        "vision-detr/ckpt",
        (training,),
    )
    assert (
        topology.claims["vision-detr/images"].trainings,
        topology.claims["vision-detr/images"].writers,
    ) == (
        (training,),
        (),
    )
    assert topology.claims["vision-detr/unused"].trainings == ()
    assert [one.id for one in topology.affected_by(Subject(volume="pvc-1", node="gpu-b07"))] == [training]


def test_a_claim_names_the_pods_that_run_with_it_and_those_that_wait_to_start_on_a_node() -> None:
    volumes = [{"name": "v", "persistentVolumeClaim": {"claimName": "ckpt"}}]
    pods = {
        "running": ("Running", "gpu-a01"),
        "waiting": ("Pending", "gpu-a01"),
        "unplaced": ("Pending", ""),
        "finished": ("Succeeded", "gpu-a01"),
    }
    seen = inventory(
        *(
            pod(name, "vision", spec={"nodeName": node_name, "volumes": volumes}, status={"phase": phase})
            for name, (phase, node_name) in pods.items()
        )
    )
    claim = build_topology(seen, (), cluster="prod-a").claims["vision/ckpt"]

    assert dict(claim.waiting) == {"vision/waiting": "gpu-a01"}
    assert claim.running == ("vision/running",)


def test_a_node_has_its_boot_and_the_gpus_that_are_out_of_service() -> None:
    status = {"allocatable": {"nvidia.com/gpu": "6"}, "nodeInfo": {"bootID": "7f2c", "kernelVersion": "6.8"}}
    seen = inventory(node("gpu-a01", status=status), node("gpu-a02"))
    nodes = build_topology(seen, (), cluster="prod-a").nodes

    assert (nodes["gpu-a01"].boot_id, nodes["gpu-a01"].gpus, nodes["gpu-a01"].gpus_out) == ("7f2c", 8, 2)
    assert (nodes["gpu-a02"].boot_id, nodes["gpu-a02"].gpus_out) == ("", 0)


def test_claims_that_cannot_be_seen_are_still_known_by_their_pods() -> None:
    job = made(Job, "detr-worker", "vision-detr", spec={"template": {"spec": {"containers": [gpus(8)]}}})
    seen = inventory(
        job, mounting(0, "ckpt", read_only=False), missing={"persistentvolumeclaims": "forbidden"}
    )

    assert set(build_topology(seen, read_trainings(seen), cluster="prod-a").claims) == {"vision-detr/ckpt"}


def failed_training(state: TrainingState, node_name: str) -> Training:
    first = Rank(
        role="worker", index=0, pod="w-0", node=node_name, exit_code=134, explanation="aborted", finished=NOW
    )
    return a_training("vision", "detr", state, failures=(first,))


def test_a_training_whose_tasks_failed_together_is_known_by_all_their_nodes() -> None:
    failed = failed_training(TrainingState.FAILED, "gpu-a01")
    (first,) = failed.failures
    together = replace(first, index=1, node="gpu-a02", finished=NOW + timedelta(seconds=2))
    later = replace(first, index=2, node="gpu-a03", finished=NOW + timedelta(minutes=5))
    failed = replace(failed, failures=(first, together, later))

    assert set(build_topology(inventory(), [failed], cluster="prod-a").failed_on) == {"gpu-a01", "gpu-a02"}


def test_a_failed_training_is_known_by_the_node_of_its_first_failure() -> None:
    failed = failed_training(TrainingState.FAILED, "gpu-a01")
    restarted = failed_training(TrainingState.RUNNING, "gpu-a01")

    (found,) = build_topology(inventory(), [failed], cluster="prod-a").failed_on["gpu-a01"]

    assert (found.id, found.failed_at) == ("vision/detr", NOW)
    assert found.failure == "worker 0 failed, exit code 134: aborted"
    assert build_topology(inventory(), [restarted], cluster="prod-a").failed_on == {}
    assert (
        build_topology(inventory(), [failed_training(TrainingState.FAILED, "")], cluster="a").failed_on == {}
    )


COMPLETED: list[tuple[str, Subject, dict[str, str]]] = [
    (
        "a pod gives its node, rack, training and owner",
        Subject(namespace="vision-detr", pod="detr-worker-1"),
        {
            "node": "gpu-b01",
            "rack": "rack-b",
            "training": "vision-detr/detr",
            "owner": "ana",
            "team": "vision",
        },
    ),
    (
        "a host's address gives its node",
        Subject(node="10.0.0.11:9100"),
        {"node": "gpu-a01", "rack": "rack-a"},
    ),
    ("a pod's address gives its node", Subject(node="10.244.1.7:9400"), {"node": "gpu-b01"}),
    ("an exporter's pod name gives its node", Subject(node="dcgm-exporter-6ldbb"), {"node": "gpu-b01"}),
    ("a full host name gives its node", Subject(node="gpu-a01.dc1.example.com"), {"node": "gpu-a01"}),
    *(
        (f"{text} gives its node", Subject(node=text), {"node": "gpu-a01"})
        for text in (
            "[fd00::a:11]:9100",
            "fd00::a:11",
            "FD00::A:11",
            "GPU-A01",
            "GPU-A01.dc1.example.com:9100",
        )
    ),
    *(
        (f"{text} gives its node", Subject(node=text), {"node": "gpu-a01"})
        for text in ("gce://project/zone/gpu-a01", "prod/gpu-a01")
    ),
    ("a URL that is probed is no node", Subject(node="http://x/gpu-a01"), {"node": "http://x/gpu-a01"}),
    ("a name with a port gives its node", Subject(node="gpu-a01:9100"), {"node": "gpu-a01"}),
    (
        "the pod's node replaces an unknown address",
        Subject(node="10.9.9.9:8080", namespace="vision-detr", pod="detr-worker-0"),
        {"node": "gpu-a01", "training": "vision-detr/detr"},
    ),
    (
        "a workload gives its training",
        Subject(namespace="vision-detr", workload="vision-detr/Job/detr-worker"),
        {"training": "vision-detr/detr", "owner": "ana"},
    ),
    (
        "a dedicated namespace gives its training",
        Subject(namespace="vision-detr"),
        {"training": "vision-detr/detr"},
    ),
    (
        "known fields are not overwritten",
        Subject(cluster="other", node="gpu-a01", rack="here"),
        {"cluster": "other", "rack": "here"},
    ),
    (
        "an unknown node stays unchanged",
        Subject(node="elsewhere"),
        {"node": "elsewhere", "cluster": "prod-a"},
    ),
]


@pytest.mark.parametrize(
    ("known", "expected"), [case[1:] for case in COMPLETED], ids=[case[0] for case in COMPLETED]
)
def test_a_subject_is_completed(topology: Topology, known: Subject, expected: dict[str, str]) -> None:
    words = topology.complete(known).words()
    assert {name: words.get(name, "") for name in expected} == expected


def test_an_empty_topology_sets_only_the_cluster_and_strips_the_port() -> None:
    subject = Subject(node="10.0.0.11:9100", namespace="x", pod="y")
    assert Topology(cluster="prod-a").complete(subject).words() == {
        "cluster": "prod-a",
        "node": "10.0.0.11",
        "namespace": "x",
        "pod": "y",
    }


def test_a_gpu_alert_gives_the_affected_training(topology: Topology) -> None:
    labels = {"Hostname": "gpu-a01", "gpu": "3", "pod": "dcgm-exporter-abc", "job": "dcgm-exporter"}
    subject = topology.complete(subject_of(labels))
    assert [training.id for training in topology.affected_by(subject)] == [
        "vision-detr/Namespace/vision-detr"
    ]
    assert subject.pod == ""


def test_a_short_name_gives_the_only_node_whose_full_name_starts_with_it() -> None:
    names = ("gpu-a01.dc1.example.com", "gpu-b01.dc1.example.com", "gpu-b01.dc2.example.com")
    topology = build_topology(inventory(*map(node, names)), (), cluster="prod-a")
    found = [topology.complete(Subject(node=name)).node for name in ("gpu-a01", "gpu-b01", names[1])]
    assert found == ["gpu-a01.dc1.example.com", "gpu-b01", "gpu-b01.dc1.example.com"]
