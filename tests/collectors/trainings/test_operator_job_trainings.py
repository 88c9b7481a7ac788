"""Trainings as jobs of Kubeflow's operators, pytorchjob, tfjob, mpijob and mpijobv2: roles, ranks and states."""

from typing import Any

import pytest

from collectors.cluster.inventory import Inventory
from collectors.cluster.objects import (
    Job,
    KubernetesObject,
    MPIJob,
    MPIJobOfMPIOperator,
    Pod,
    PyTorchJob,
    TFJob,
)
from collectors.trainings.catalogue import read_trainings
from collectors.trainings.training import Training, TrainingState
from tests.support.objects import container, gpus, inventory, owned, pod, read

LABEL = "training.kubeflow.org/"
FORMS: dict[str, tuple[type[KubernetesObject], str, dict[str, tuple[int | None, int]]]] = {
    "pytorchjob": (PyTorchJob, "pytorchReplicaSpecs", {"Master": (1, 8), "Worker": (3, 8)}),
    "tfjob": (TFJob, "tfReplicaSpecs", {"Chief": (None, 8), "Worker": (2, 8), "PS": (2, 0)}),
    "mpijob": (MPIJob, "mpiReplicaSpecs", {"Launcher": (1, 0), "Worker": (2, 8)}),
    "mpijobv2": (MPIJobOfMPIOperator, "mpiReplicaSpecs", {"Launcher": (1, 0), "Worker": (2, 8)}),
}
each_kind = pytest.mark.parametrize("kind", FORMS)


def a_job(
    kind: str = "pytorchjob",
    *,
    true: dict[str, str] | None = None,
    false: tuple[str, ...] = (),
    policy: dict[str, Any] | None = None,
    **meta: Any,
) -> KubernetesObject:
    """A job. `true`: the conditions that hold, with a reason; `false`: later ones that do not hold any more."""
    type_, specs, roles = FORMS[kind]
    replicas = {
        name: {
            **({} if count is None else {"replicas": count}),
            "template": {"spec": {"containers": [gpus(each) if each else container()]}},
        }
        for name, (count, each) in roles.items()
    }
    conditions = [
        {"type": name, "status": "True", "reason": reason, "message": reason}
        for name, reason in (true or {}).items()
    ]
    conditions += [{"type": name, "status": "False", "reason": "r"} for name in false]
    tree = {
        "metadata": {"name": "bert", "namespace": "vision", **meta},
        "spec": {specs: replicas, "runPolicy": policy or {}},
        "status": {"conditions": conditions, "startTime": "2026-11-21T03:01:00Z"},
    }
    return read(type_, tree)


def a_rank(kind: str, role: str, index: int | None, **parts: Any) -> Pod:
    count = FORMS[kind][2][role][1]
    is_second = kind == "mpijobv2"
    labels = {f"{LABEL}{'job-role' if is_second else 'replica-type'}": role.lower()} | (
        {} if index is None else {f"{LABEL}replica-index": str(index)}
    )
    return pod(
        f"bert-{role.lower()}-{index}",
        "vision",
        labels=labels,
        ownerReferences=[{**one, "apiVersion": "kubeflow.org/v2beta1"} for one in owned("MPIJob", "bert")]
        if is_second
        else owned(FORMS[kind][0].__name__, "bert"),
        spec={"nodeName": "n1", "containers": [gpus(count) if count else container()]},
        **parts,
    )


def all_ranks(kind: str, **parts: Any) -> list[Pod]:
    return [
        a_rank(kind, role, index, **parts)
        for role, (count, _) in FORMS[kind][2].items()
        for index in range(count or 1)
    ]


def only(seen: Inventory) -> Training:
    (view,) = read_trainings(seen)
    return view


@each_kind
def test_its_replica_types_are_its_roles_and_an_absent_number_is_one(kind: str) -> None:
    view = only(inventory(a_job(kind, labels={"owner": "ana"}), *all_ranks(kind)))
    expected = {
        (role.lower(), index) for role, (count, _) in FORMS[kind][2].items() for index in range(count or 1)
    }
    assert {(rank.role, rank.index) for rank in view.ranks} == expected
    assert (view.state, view.owner, view.wanted) == (TrainingState.RUNNING, "ana", len(expected))
    assert (
        view.gpus_wanted == view.gpus == sum((count or 1) * each for count, each in FORMS[kind][2].values())
    )


def test_a_pod_without_the_number_of_its_rank_is_numbered_by_age() -> None:
    view = only(inventory(a_job(), a_rank("pytorchjob", "Worker", None)))
    assert [(rank.role, rank.index) for rank in view.ranks] == [("worker", 0)]


@pytest.mark.parametrize(
    ("true", "false", "state"),
    [
        ({}, (), TrainingState.QUEUED),
        ({"Created": "TFJobCreated", "Succeeded": "TFJobSucceeded"}, ("Running",), TrainingState.SUCCEEDED),
        ({"Created": "TFJobCreated", "Failed": "TFJobFailed"}, ("Running",), TrainingState.FAILED),
        (
            {"Failed": "Job bert has failed because it was active longer than specified deadline"},
            (),
            TrainingState.STOPPED,
        ),
        ({"Created": "TFJobCreated"}, ("Succeeded", "Failed"), TrainingState.QUEUED),
    ],
)
def test_its_state_is_by_the_conditions_that_hold_and_never_by_the_last_one(
    true: dict[str, str], false: tuple[str, ...], state: TrainingState
) -> None:
    view = only(inventory(a_job("tfjob", true=true, false=false)))
    assert view.state is state, view.reason


@each_kind
def test_it_is_suspended_by_its_run_policy(kind: str) -> None:
    assert only(inventory(a_job(kind, policy={"suspend": True}))).state is TrainingState.SUSPENDED


def test_parameter_servers_that_outlive_it_are_seen_to_hold_their_place() -> None:
    """Without a cleanPodPolicy they stay, whatever the counts of its status say."""
    view = only(inventory(a_job("tfjob", true={"Succeeded": "TFJobSucceeded"}), a_rank("tfjob", "PS", 0)))
    assert view.state is TrainingState.SUCCEEDED
    assert [(rank.role, rank.phase) for rank in view.ranks] == [("ps", "Running")]


def test_its_priority_is_that_of_its_gang_or_else_of_its_pods() -> None:
    view = only(inventory(a_job(policy={"schedulingPolicy": {"priorityClass": "high", "queue": "rec"}})))
    assert view.priority == "high"


def test_one_with_an_owner_is_part_of_what_that_is() -> None:
    assert read_trainings(inventory(a_job(ownerReferences=owned("Workflow", "nightly")))) == ()


def test_one_without_gpus_is_left_out() -> None:
    tree = {"metadata": {"name": "cpu", "namespace": "v"}, "spec": {"pytorchReplicaSpecs": {"Master": {}}}}
    assert read_trainings(inventory(read(PyTorchJob, tree))) == ()


def test_its_first_failure_is_found_among_its_ranks() -> None:
    end = {"terminated": {"exitCode": 139, "finishedAt": "2026-11-21T04:00:00Z"}}
    failed = a_rank(
        "pytorchjob",
        "Worker",
        2,
        status={"phase": "Failed", "containerStatuses": [{"name": "main", "state": end}]},
    )
    view = only(inventory(a_job(true={"Failed": "PyTorchJobFailed"}), failed))
    assert view.first_failure is not None
    assert (view.first_failure.role, view.first_failure.index, view.first_failure.exit_code) == (
        "worker",
        2,
        139,
    )


OF_MPI_OPERATOR = [{**one, "apiVersion": "kubeflow.org/v2beta1"} for one in owned("MPIJob", "bert")]


def test_the_launcher_of_an_mpijobv2_is_a_job_of_its_own_whose_pod_is_a_rank() -> None:
    launcher = read(
        Job,
        {"metadata": {"name": "bert-launcher", "namespace": "vision", "ownerReferences": OF_MPI_OPERATOR}},
    )
    made = pod(
        "bert-launcher-x7k2p",
        "vision",
        labels={f"{LABEL}job-role": "launcher"},
        ownerReferences=owned("Job", "bert-launcher"),
        spec={"nodeName": "n1", "containers": [container()]},
    )
    view = only(
        inventory(
            a_job("mpijobv2"),
            launcher,
            made,
            a_rank("mpijobv2", "Worker", 0),
            a_rank("mpijobv2", "Worker", 1),
        )
    )
    assert [(rank.role, rank.index) for rank in view.ranks] == [("launcher", 0), ("worker", 0), ("worker", 1)]
    assert view.state is TrainingState.RUNNING


def test_the_two_mpijobs_of_one_name_differ_by_their_version() -> None:
    first, second = read_trainings(
        inventory(
            a_job("mpijob"), a_job("mpijobv2"), a_rank("mpijob", "Worker", 0), a_rank("mpijobv2", "Worker", 1)
        )
    )
    assert {one.id: [rank.index for rank in one.ranks] for one in (first, second)} == {
        "vision/MPIJob.kubeflow.org/bert": [0],
        "vision/MPIJob.v2beta1.kubeflow.org/bert": [1],
    }
