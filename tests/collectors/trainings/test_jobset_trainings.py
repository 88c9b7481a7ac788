"""Trainings as JobSets: roles and ranks over several Jobs, states, and whose a Job is."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from collectors.cluster.inventory import Inventory
from collectors.cluster.memo import Memo
from collectors.cluster.objects import Deployment, Job, JobSet, Namespace, Pod
from collectors.trainings.catalogue import read_trainings
from collectors.trainings.training import Training, TrainingState
from tests.support.objects import container, gpus, inventory, owned, pod, read

SPACE = "vision"
LABEL = "jobset.sigs.k8s.io/"


def a_job_spec(tasks: int, each: int) -> dict[str, Any]:
    pods = {"spec": {"containers": [gpus(each) if each else container()]}}
    return {"parallelism": tasks, "completions": tasks, "template": pods}


def a_jobset(name: str = "detr", *, suspend: bool = False, **parts: Any) -> JobSet:
    """A JobSet with 2 Jobs of 2 workers with 8 GPUs, and one driver."""
    roles = [
        {"name": "workers", "replicas": 2, "template": {"spec": a_job_spec(2, parts.pop("each", 8))}},
        {"name": "driver", "template": {"spec": a_job_spec(1, 0)}},
    ]
    conditions = [
        {
            "type": type_,
            "status": "True",
            "reason": reason,
            "message": "m",
            "lastTransitionTime": "2026-11-21T03:50:00Z",
        }
        for type_, reason in parts.pop("true", {}).items()
    ]
    status = {"conditions": conditions, "restarts": parts.pop("restarts", 0)}
    meta = {"name": name, "namespace": SPACE, "creationTimestamp": "2026-11-21T03:00:00Z", **parts}
    return read(
        JobSet, {"metadata": meta, "spec": {"suspend": suspend, "replicatedJobs": roles}, "status": status}
    )


def a_job(role: str, index: int = 0, *, jobset: str = "detr", true: dict[str, str] | None = None) -> Job:
    conditions = [{"type": key, "status": "True", "reason": one} for key, one in (true or {}).items()]
    meta = {
        "name": f"{jobset}-{role}-{index}",
        "namespace": SPACE,
        "labels": {f"{LABEL}replicatedjob-name": role, f"{LABEL}job-index": str(index)},
        "ownerReferences": owned("JobSet", jobset),
    }
    spec = a_job_spec(2, 8) if role == "workers" else a_job_spec(1, 0)
    status = {"startTime": f"2026-11-21T03:0{index + 1}:00Z", "conditions": conditions}
    return read(Job, {"metadata": meta, "spec": spec, "status": status})


def a_rank(role: str, job: int, index: int, **status: Any) -> Pod:
    labels = {
        f"{LABEL}job-index": str(job),
        "batch.kubernetes.io/job-completion-index": str(index),
    }
    return pod(
        f"detr-{role}-{job}-{index}",
        SPACE,
        labels=labels,
        ownerReferences=owned("Job", f"detr-{role}-{job}"),
        spec={"nodeName": "n1", "containers": [gpus(8) if role == "workers" else container()]},
        status=status,
    )


JOBS = (a_job("workers", 0), a_job("workers", 1), a_job("driver"))
PODS = (
    *(a_rank("workers", job, index) for job in range(2) for index in range(2)),
    a_rank("driver", 0, 0),
)


def only(seen: Inventory) -> Training:
    (view,) = read_trainings(seen)
    return view


def test_ranks_are_numbered_through_all_jobs_of_a_role() -> None:
    view = only(inventory(a_jobset(labels={"owner": "ana"}), *JOBS, *PODS))
    assert (view.id, view.kind, view.owner, view.state) == (
        "vision/JobSet.jobset.x-k8s.io/detr",
        "JobSet.jobset.x-k8s.io",
        "ana",
        TrainingState.RUNNING,
    )
    assert [(one.role, one.index, one.pod) for one in view.ranks] == [
        ("workers", 0, "detr-workers-0-0"),
        ("workers", 1, "detr-workers-0-1"),
        ("workers", 2, "detr-workers-1-0"),
        ("workers", 3, "detr-workers-1-1"),
        ("driver", 0, "detr-driver-0-0"),
    ]
    assert (view.wanted, view.gpus, view.gpus_wanted) == (5, 32, 32)
    assert view.workloads == ("vision/JobSet.jobset.x-k8s.io/detr",)
    assert view.owned == tuple(f"vision/Job/{one.metadata.name}" for one in JOBS)
    assert view.started == datetime(2026, 11, 21, 3, 1, tzinfo=UTC)


DEADLINE = a_job("workers", 1, true={"Failed": "DeadlineExceeded"})
BACKOFF = a_job("workers", 1, true={"Failed": "BackoffLimitExceeded"})
FAILED = {"Failed": "FailedJobs"}


@pytest.mark.parametrize(
    ("objects", "state", "reason"),
    [
        pytest.param(
            [a_jobset()], TrainingState.QUEUED, "0 of 5 ranks are running", id="queued before its Jobs"
        ),
        pytest.param(
            [a_jobset(), *JOBS, *PODS[1:]], TrainingState.STARTING, "4 of 5 ranks are running", id="starting"
        ),
        pytest.param(
            [a_jobset(suspend=True), *JOBS], TrainingState.SUSPENDED, "it is suspended", id="suspended"
        ),
        pytest.param(
            [a_jobset(true={"Completed": "AllJobsCompleted"})],
            TrainingState.SUCCEEDED,
            "AllJobsCompleted: m",
            id="succeeded",
        ),
        pytest.param(
            [a_jobset(true=FAILED), JOBS[0], BACKOFF],
            TrainingState.FAILED,
            "BackoffLimitExceeded (FailedJobs)",
            id="failed, as its Job says",
        ),
        pytest.param(
            [a_jobset(true={"Failed": "ReachedMaxRestarts"})],
            TrainingState.FAILED,
            "ReachedMaxRestarts: m",
            id="failed, and its Jobs are gone",
        ),
        pytest.param(
            [a_jobset(true=FAILED), JOBS[0], DEADLINE],
            TrainingState.STOPPED,
            "DeadlineExceeded (FailedJobs)",
            id="stopped by the deadline that its owner set",
        ),
        pytest.param(
            [a_jobset(deletionTimestamp="2026-11-21T03:09:00Z")],
            TrainingState.STOPPED,
            "its JobSet is being deleted",
            id="stopped while it is deleted",
        ),
    ],
)
def test_a_jobset_is(objects: list[Any], state: TrainingState, reason: str) -> None:
    view = only(inventory(*objects))
    assert (view.state, view.reason) == (state, reason)
    assert (view.finished is not None) == any(
        one.status.conditions for one in objects if isinstance(one, JobSet)
    )


def test_a_failure_before_a_restart_of_all_ranks_is_counted() -> None:
    assert only(inventory(a_jobset(restarts=2), *JOBS, *PODS)).restarts == 2


def test_the_first_failed_rank_is_named_with_its_number_in_the_role() -> None:
    end = {"exitCode": 137, "reason": "OOMKilled", "finishedAt": "2026-11-21T03:40:00Z"}
    dead = a_rank(
        "workers", 1, 0, phase="Failed", containerStatuses=[{"name": "main", "state": {"terminated": end}}]
    )
    first = only(inventory(a_jobset(true=FAILED), JOBS[0], BACKOFF, dead)).first_failure
    assert first is not None
    assert (first.role, first.index, first.exit_code) == ("workers", 2, 137)


def test_a_jobset_without_gpus_or_with_an_owner_is_not_a_training() -> None:
    of_a_train_job = a_jobset("inner", ownerReferences=owned("TrainJob", "outer"))
    assert read_trainings(inventory(a_jobset(each=0), of_a_train_job)) == ()


def test_its_namespace_may_be_dedicated_to_it_with_servers_of_its_own() -> None:
    own = read(Namespace, {"metadata": {"name": SPACE, "labels": {"training": "night"}}})
    board = read(Deployment, {"metadata": {"name": "tensorboard", "namespace": SPACE}})
    view = only(inventory(own, a_jobset(), *JOBS, *PODS, board))
    assert (view.id, view.kind, view.state) == (
        "vision/Namespace/vision",
        "JobSet.jobset.x-k8s.io",
        TrainingState.RUNNING,
    )
    assert view.workloads == ("vision/JobSet.jobset.x-k8s.io/detr", "vision/Deployment/tensorboard")


def test_a_job_and_a_jobset_of_one_name_are_two_trainings() -> None:
    alone = read(Job, {"metadata": {"name": "detr", "namespace": SPACE}, "spec": a_job_spec(1, 4)})
    keys = ["vision/Job/detr", "vision/JobSet.jobset.x-k8s.io/detr"]
    found = read_trainings(inventory(a_jobset(), alone))
    assert [(view.shown, view.id, view.typed) for view in found] == [
        ("vision/detr", key, key) for key in keys
    ]


def test_a_training_keeps_its_name_and_key_beside_another_of_the_same_name() -> None:
    before = only(inventory(a_jobset(), *JOBS, *PODS))
    assert (before.typed, before.shown) == ("vision/detr", "vision/detr")
    alone = read(Job, {"metadata": {"name": "detr", "namespace": SPACE}, "spec": a_job_spec(1, 4)})
    _, after = read_trainings(inventory(a_jobset(), alone, *JOBS, *PODS))
    assert (after.id, after.shown, after.ranks) == (before.id, before.shown, before.ranks)


def test_each_is_read_again_only_when_an_object_of_it_changed() -> None:
    alone = read(Job, {"metadata": {"name": "detr", "namespace": SPACE}, "spec": a_job_spec(1, 4)})
    parts = [a_jobset(annotations={"yardmaster.io/training": "detr"}), alone, *JOBS, *PODS]
    before = inventory(*parts)
    first = read_trainings(before)
    after = replace(inventory(*parts), memo=Memo(before.memo))
    assert [view is old for view, old in zip(read_trainings(after), first, strict=True)] == [True, True]
    changed = replace(inventory(*parts[:-1], a_rank("driver", 0, 0, phase="Failed")), memo=Memo(after.memo))
    assert [view is old for view, old in zip(read_trainings(changed), first, strict=True)] == [True, False]


@pytest.mark.parametrize("index", ["²", "-1", "", "1" * 5000])
def test_a_job_index_that_is_not_a_number_is_the_first(index: str) -> None:
    odd = a_rank("workers", 0, 1)
    (odd.metadata.labels or {})[f"{LABEL}job-index"] = index
    view = only(inventory(a_jobset(), *JOBS, odd))
    assert [(one.role, one.index) for one in view.ranks] == [("workers", 1)]


def test_a_jobset_whose_jobs_have_more_tasks_than_run_at_once_shows_all_its_ranks() -> None:
    spec = {**a_job_spec(2, 8), "completions": 3}
    roles = [{"name": "workers", "replicas": 2, "template": {"spec": spec}}]
    jobset = read(
        JobSet, {"metadata": {"name": "detr", "namespace": SPACE}, "spec": {"replicatedJobs": roles}}
    )
    pods = [a_rank("workers", job, index) for job in range(2) for index in (1, 2)]
    view = only(inventory(jobset, *JOBS[:2], *pods))
    assert [(one.index, one.pod) for one in view.ranks] == [
        (1, "detr-workers-0-1"),
        (2, "detr-workers-0-2"),
        (4, "detr-workers-1-1"),
        (5, "detr-workers-1-2"),
    ]


def test_a_replaced_pod_hides_no_pod_of_the_next_job() -> None:
    roles = [{"name": "workers", "replicas": 2, "template": {"spec": a_job_spec(1, 8)}}]
    jobset = read(
        JobSet, {"metadata": {"name": "detr", "namespace": SPACE}, "spec": {"replicatedJobs": roles}}
    )
    label = f"{LABEL}job-index"
    pods = [
        pod(
            name,
            SPACE,
            labels={label: job},
            ownerReferences=owned("Job", f"detr-workers-{job}"),
            status=status,
        )
        for name, job, status in (
            ("a-failed", "0", {"phase": "Failed"}),
            ("b", "0", {"phase": "Running"}),
            ("c", "1", {"phase": "Running"}),
        )
    ]
    view = only(inventory(jobset, *JOBS[:2], *pods))
    assert [one.pod for one in view.ranks] == ["a-failed", "b", "c"]
    assert view.state is TrainingState.RUNNING
