"""Trainings as RayJobs (rayjob): states, roles, and the pods of their clusters."""

import pytest

from collectors.cluster.objects import Job, Pod, RayJob
from collectors.trainings.catalogue import read_trainings
from collectors.trainings.training import TrainingState
from tests.support.objects import container, gpus, inventory, pod, read


def a_job(
    deployment: str = "Running", job: str = "", *, suspend: bool = False, reason: str = "", mode: str = ""
) -> RayJob:
    group = {
        "groupName": "gpu",
        "replicas": 2,
        "numOfHosts": 2,
        "template": {"spec": {"containers": [gpus(8)]}},
    }
    head = {"template": {"spec": {"containers": [container()]}}}
    status = {
        "jobDeploymentStatus": deployment,
        "jobStatus": job,
        "rayClusterName": "bert-x1",
        "reason": reason,
        "message": "m",
    }
    cluster = {"headGroupSpec": head, "workerGroupSpecs": [group]}
    spec = {"suspend": suspend, "submissionMode": mode, "rayClusterSpec": cluster}
    return read(RayJob, {"metadata": {"name": "bert", "namespace": "v"}, "spec": spec, "status": status})


def a_rank(name: str, type_: str, group: str) -> Pod:
    owner = {
        "apiVersion": "ray.io/v1",
        "kind": "RayCluster",
        "name": "bert-x1",
        "uid": "u",
        "controller": True,
    }
    return pod(
        name,
        "v",
        labels={"ray.io/node-type": type_, "ray.io/group": group},
        ownerReferences=[owner],
        spec={"nodeName": "n1", "containers": [gpus(8) if type_ == "worker" else container()]},
    )


@pytest.mark.parametrize(
    ("deployment", "job", "reason", "state"),
    [
        ("", "", "", TrainingState.QUEUED),
        ("Initializing", "PENDING", "", TrainingState.QUEUED),
        ("Retrying", "FAILED", "", TrainingState.QUEUED),  # it is tried again
        ("Complete", "SUCCEEDED", "", TrainingState.SUCCEEDED),
        ("Complete", "STOPPED", "", TrainingState.STOPPED),
        ("Complete", "FAILED", "", TrainingState.FAILED),
        ("Failed", "FAILED", "AppFailed", TrainingState.FAILED),
        ("Failed", "RUNNING", "DeadlineExceeded", TrainingState.STOPPED),
        ("ValidationFailed", "", "", TrainingState.FAILED),
    ],
)
def test_its_state_is_what_the_operator_and_ray_say(
    deployment: str, job: str, reason: str, state: TrainingState
) -> None:
    (training,) = read_trainings(inventory(a_job(deployment, job, reason=reason)))
    assert training.state is state
    assert (training.wanted, training.gpus_wanted) == (6, 32)


def a_submitter() -> tuple[Job, Pod]:
    """The Job that submits the command, and its pod, which has no label of Ray."""
    owners = [{"apiVersion": "ray.io/v1", "kind": "RayJob", "name": "bert", "uid": "r", "controller": True}]
    job = {"metadata": {"name": "bert", "namespace": "v", "ownerReferences": owners}}
    by = {"apiVersion": "batch/v1", "kind": "Job", "name": "bert", "uid": "j", "controller": True}
    spec = {"nodeName": "n1", "containers": [container()]}
    return read(Job, job), pod("bert-4xk2p", "v", ownerReferences=[by], spec=spec)


def test_the_pod_that_submits_the_command_is_a_rank_and_is_waited_for() -> None:
    ranks = [
        a_rank("h", "head", "headgroup"),
        *(a_rank(f"w{number}", "worker", "gpu") for number in range(4)),
    ]
    (training,) = read_trainings(inventory(a_job(), *ranks))
    assert (training.state, training.reason) == (TrainingState.STARTING, "5 of 6 ranks are running")
    (training,) = read_trainings(inventory(a_job(), *ranks, *a_submitter()))
    assert training.state is TrainingState.RUNNING
    assert [(rank.role, rank.pod) for rank in training.ranks][-1] == ("submitter", "bert-4xk2p")


def test_a_group_of_several_hosts_has_a_rank_of_each() -> None:
    ranks = [a_rank(f"w{number}", "worker", "gpu") for number in range(4)]
    job = a_job(mode="HTTPMode")  # the operator submits the command itself
    (training,) = read_trainings(inventory(job, a_rank("h", "head", "headgroup"), *ranks))
    assert (training.state, training.gpus) == (TrainingState.RUNNING, 32)
    assert training.owned == ("v/RayCluster.ray.io/bert-x1",)


def test_it_is_suspended_by_its_own_field() -> None:
    (training,) = read_trainings(inventory(a_job("Suspended", suspend=True)))
    assert training.state is TrainingState.SUSPENDED
