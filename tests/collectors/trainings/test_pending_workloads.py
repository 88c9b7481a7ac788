"""Workloads with GPUs that wait for a node: how long, and why in the scheduler's words, whatever their kind."""

from datetime import timedelta

import pytest

from collectors.check import CheckInput
from collectors.checks.trainings import workloads_pending
from collectors.cluster.objects import Pod
from collectors.facts.label_mapping import subject_of
from collectors.facts.results import Sample
from tests.support.objects import NOW, gpus, inventory, owned, pod, samples_in

NO_ROOM = "0/3 nodes are available: 2 Insufficient nvidia.com/gpu, 1 node(s) were unschedulable."


def waiting(name: str, minutes: int, *, message: str = "", reason: str = "Unschedulable") -> Pod:
    condition = {"type": "PodScheduled", "status": "False", "reason": reason, "message": message}
    return pod(
        name,
        "infer",
        spec={"containers": [gpus(4)]},
        status={"phase": "Pending", "conditions": [condition] if message else []},
        ownerReferences=owned("StatefulSet", "llama"),
        creationTimestamp=f"{NOW - timedelta(minutes=minutes):%Y-%m-%dT%H:%M:%SZ}",
    )


def found(*pods: Pod) -> Sample:
    seen = CheckInput(at=NOW, inventory=inventory(*pods), trainings=(), configs={}, sources=())
    (sample,) = samples_in(workloads_pending.run(seen, {}))
    return sample


def test_a_workload_waits_as_long_as_the_first_of_its_pods() -> None:
    assert found(waiting("llama-1", 3), waiting("llama-0", 11)).value == 11 * 60


@pytest.mark.parametrize(
    ("pods", "expected"),
    [
        ([waiting("llama-0", 5)], "1 pod without a node"),
        (
            [waiting("llama-0", 5, message=NO_ROOM), waiting("llama-1", 5)],
            "2 pods without a node; Unschedulable: of 3 nodes, 2 have too little nvidia.com/gpu free, 1 is cordoned",
        ),
        (
            [waiting("llama-0", 5, message="Scheduling is blocked", reason="SchedulingGated")],
            "1 pod without a node; SchedulingGated: Scheduling is blocked",
        ),
    ],
    ids=["the scheduler has said nothing", "the scheduler finds no room", "a gate holds it"],
)
def test_the_reason_is_the_schedulers(pods: list[Pod], expected: str) -> None:
    assert found(*pods).texts == (expected,)


def test_the_labels_of_the_sample_name_the_workload() -> None:
    subject = subject_of(found(waiting("llama-0", 5)).labels)
    assert (subject.workload, subject.namespace, subject.pod) == ("infer/StatefulSet/llama", "infer", "")
