"""Trainings as Jobs of Volcano (vcjob): states, roles and ranks."""

from typing import Any

import pytest

from collectors.cluster.objects import Pod, VolcanoJob
from collectors.trainings.catalogue import read_trainings
from collectors.trainings.training import TrainingState
from tests.support.objects import container, gpus, inventory, pod, read

OWNER = {
    "apiVersion": "batch.volcano.sh/v1alpha1",
    "kind": "Job",
    "name": "bert",
    "uid": "u",
    "controller": True,
}


def a_job(phase: str = "Running", *, failed: int = 0, **state: Any) -> VolcanoJob:
    tasks = [
        {"name": "worker", "replicas": 2, "template": {"spec": {"containers": [gpus(8)]}}},
        {"name": "ps", "template": {"spec": {"containers": [container()]}}},
    ]
    status = {"state": {"phase": phase, **state}, "failed": failed, "retryCount": 1}
    spec = {"tasks": tasks, "queue": "rec", "priorityClassName": "high"}
    return read(VolcanoJob, {"metadata": {"name": "bert", "namespace": "v"}, "spec": spec, "status": status})


def a_rank(task: str, number: str) -> Pod:
    notes = {"volcano.sh/task-spec": task, "volcano.sh/task-index": number}
    held = gpus(8) if task == "worker" else container()
    return pod(
        f"bert-{task}-{number}",
        "v",
        annotations=notes,
        ownerReferences=[OWNER],
        spec={"nodeName": "n1", "containers": [held]},
    )


@pytest.mark.parametrize(
    ("phase", "failed", "state"),
    [
        ("Pending", 0, TrainingState.QUEUED),
        ("Completed", 0, TrainingState.SUCCEEDED),
        ("Failed", 0, TrainingState.FAILED),
        ("Aborting", 0, TrainingState.SUSPENDED),
        ("Aborted", 0, TrainingState.SUSPENDED),
        ("Terminated", 0, TrainingState.STOPPED),  # by a person
        ("Terminated", 1, TrainingState.FAILED),  # by its policy
    ],
)
def test_its_state_is_the_phase(phase: str, failed: int, state: TrainingState) -> None:
    (training,) = read_trainings(inventory(a_job(phase, failed=failed)))
    assert training.state is state
    assert (training.wanted, training.gpus_wanted, training.queue, training.priority) == (
        3,
        16,
        "rec",
        "high",
    )


def test_its_ranks_are_those_of_its_tasks() -> None:
    ranks = (a_rank("worker", "1"), a_rank("worker", "0"), a_rank("ps", "0"), a_rank("other", "0"))
    (training,) = read_trainings(inventory(a_job(), *ranks))
    assert [(rank.role, rank.index) for rank in training.ranks] == [("worker", 0), ("worker", 1), ("ps", 0)]
    assert (training.state, training.restarts) == (TrainingState.RUNNING, 1)


def test_why_it_failed_is_in_its_own_words() -> None:
    (training,) = read_trainings(inventory(a_job("Failed", reason="MaxRetry", message="no retry left")))
    assert training.reason == "MaxRetry: no retry left"
