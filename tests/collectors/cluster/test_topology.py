"""The topology: nodes, pods, trainings, claims, and what failed together."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

from collectors.cluster.objects import (
    Job,
    PersistentVolumeClaim,
)
from collectors.facts.places import PLACE_LABELS
from collectors.facts.subjects import Subject
from collectors.facts.topology import Topology
from collectors.topology_builder import build_topology
from collectors.trainings.catalogue import read_trainings
from collectors.trainings.training import Rank, Training, TrainingState
from tests.support.objects import NOW, gpus, inventory, node, owned, pod
from tests.support.one_training import made
from tests.support.trainings import a_training


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
