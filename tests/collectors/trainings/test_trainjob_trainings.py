"""Trainings as a trainjob: what its JobSet shows, and before that the job and its runtime; its end and its progress."""

from typing import Any

import pytest

from collectors.cluster.inventory import Inventory
from collectors.cluster.objects import ClusterTrainingRuntime, Job, JobSet, Pod, TrainingRuntime, TrainJob
from collectors.trainings.catalogue import read_trainings
from collectors.trainings.training import Training, TrainingState
from tests.support.objects import container, gpus, inventory, owned, pod, read

TRAINER = "trainer.kubeflow.org/v1alpha1"
JOBSET = "jobset.sigs.k8s.io/"


def a_runtime(type_: type[Any] = ClusterTrainingRuntime, *, each: int = 0, **meta: Any) -> Any:
    job = {
        "name": "node",
        "template": {"spec": {"template": {"spec": {"containers": [gpus(each) if each else container()]}}}},
    }
    spec = {"mlPolicy": {"numNodes": 3}, "template": {"spec": {"replicatedJobs": [job]}}}
    return read(type_, {"metadata": {"name": "torch", **meta}, "spec": spec})


def a_job(*, each: int = 8, status: dict[str, Any] | None = None, **spec: Any) -> TrainJob:
    resources = {"resourcesPerNode": {"limits": {"nvidia.com/gpu": str(each)}}} if each else {}
    tree = {
        "metadata": {"name": "bert", "namespace": "vision", "labels": {"owner": "ana"}},
        "spec": {"runtimeRef": {"name": "torch"}, "trainer": resources, **spec},
        "status": status or {},
    }
    return read(TrainJob, tree)


def made_of_it(nodes: int = 2) -> list[Any]:
    """Its JobSet, with its Job and pods, as Trainer and JobSet make them."""
    owner = [{**one, "apiVersion": TRAINER} for one in owned("TrainJob", "bert")]
    template = {"spec": {"containers": [gpus(8)]}}
    role = {
        "name": "node",
        "template": {"spec": {"parallelism": nodes, "completions": nodes, "template": template}},
    }
    jobset = {
        "metadata": {"name": "bert", "namespace": "vision", "ownerReferences": owner},
        "spec": {"replicatedJobs": [role]},
    }
    of_set = [{**one, "apiVersion": "jobset.x-k8s.io/v1alpha2"} for one in owned("JobSet", "bert")]
    labels = {f"{JOBSET}replicatedjob-name": "node", f"{JOBSET}job-index": "0"}
    job = {
        "metadata": {
            "name": "bert-node-0",
            "namespace": "vision",
            "labels": labels,
            "ownerReferences": of_set,
        }
    }
    return [read(JobSet, jobset), read(Job, job), *(a_pod(index) for index in range(nodes))]


def a_pod(index: int) -> Pod:
    return pod(
        f"bert-node-0-{index}",
        "vision",
        labels={f"{JOBSET}job-index": "0", f"{JOBSET}replicatedjob-name": "node"},
        annotations={"batch.kubernetes.io/job-completion-index": str(index)},
        ownerReferences=owned("Job", "bert-node-0"),
        spec={"nodeName": "n1", "containers": [gpus(8)]},
    )


def only(seen: Inventory) -> Training:
    (view,) = read_trainings(seen)
    return view


def ended(type_: str, reason: str) -> dict[str, Any]:
    return {"conditions": [{"type": type_, "status": "True", "reason": reason, "message": "m"}]}


def test_its_jobset_has_the_roles_and_is_not_a_training_of_its_own() -> None:
    view = only(inventory(a_runtime(), a_job(), *made_of_it()))
    assert view.id == "vision/TrainJob.trainer.kubeflow.org/bert"
    assert [(rank.role, rank.index, rank.gpus) for rank in view.ranks] == [("node", 0, 8), ("node", 1, 8)]
    assert (view.state, view.owner, view.wanted, view.gpus_wanted) == (TrainingState.RUNNING, "ana", 2, 16)
    assert view.owned == ("vision/JobSet.jobset.x-k8s.io/bert", "vision/Job/bert-node-0")


@pytest.mark.parametrize(
    ("trainer", "each", "of_runtime", "wanted"),
    [({"numNodes": 2}, 8, 0, (2, 16)), ({}, 8, 0, (3, 24)), ({}, 0, 4, (3, 12))],
    ids=["its own", "nodes of the runtime", "all of the runtime"],
)
def test_before_its_jobset_is_there_the_job_and_its_runtime_say_what_it_will_be(
    trainer: dict[str, Any], each: int, of_runtime: int, wanted: tuple[int, float]
) -> None:
    resources = {"resourcesPerNode": {"limits": {"nvidia.com/gpu": str(each)}}} if each else {}
    job = a_job(trainer={**trainer, **resources})
    view = only(inventory(a_runtime(each=of_runtime), job))
    assert (view.wanted, view.gpus_wanted) == wanted
    assert (view.state, view.has_sign) == (TrainingState.QUEUED, False)


def test_its_runtime_may_be_one_of_its_namespace() -> None:
    job = a_job(trainer={}, runtimeRef={"name": "torch", "kind": "TrainingRuntime"})
    view = only(inventory(a_runtime(), a_runtime(TrainingRuntime, each=2, namespace="vision"), job))
    assert view.gpus_wanted == 6


@pytest.mark.parametrize(
    ("type_", "reason", "state"),
    [
        ("Complete", "AllJobsCompleted", TrainingState.SUCCEEDED),
        ("Failed", "FailedJobs", TrainingState.FAILED),
        ("Failed", "DeadlineExceeded", TrainingState.STOPPED),
        ("Suspended", "Suspended", TrainingState.QUEUED),
    ],
)
def test_its_state_is_by_its_conditions(type_: str, reason: str, state: TrainingState) -> None:
    assert only(inventory(a_runtime(), a_job(status=ended(type_, reason)))).state is state


def test_it_is_suspended_by_its_field() -> None:
    assert only(inventory(a_job(suspend=True))).state is TrainingState.SUSPENDED


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        (
            {"progressPercentage": 40, "estimatedRemainingSeconds": 1200},
            "40 %, 20 min to go by its own estimate",
        ),
        ({"progressPercentage": 40}, "40 %"),
        ({"metrics": []}, ""),
    ],
)
def test_what_it_reports_of_its_progress_is_shown(given: dict[str, Any], shown: str) -> None:
    status = {"trainerStatus": {"lastUpdatedTime": "2026-11-21T03:01:00Z", **given}}
    assert only(inventory(a_job(status=status), *made_of_it())).progress == shown


def test_one_that_requests_no_gpus_is_left_out() -> None:
    assert read_trainings(inventory(a_job(trainer={"resourcesPerNode": {"limits": {"cpu": "4"}}}))) == ()
