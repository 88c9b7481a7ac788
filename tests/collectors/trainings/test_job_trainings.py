"""Trainings made of plain Kubernetes objects: what counts as one, its state, which rank failed first and why."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from collectors.cluster.inventory import Inventory
from collectors.cluster.memo import Memo
from collectors.cluster.objects import Deployment, Job, Namespace, Pod, ReplicaSet
from collectors.trainings.catalogue import read_trainings, unseen_kinds
from collectors.trainings.training import Training, TrainingState
from tests.support.objects import container, gpus, inventory, owned, pod, read

INDEX = "batch.kubernetes.io/job-completion-index"
SPACE = "vision-detr"


def at(minute: int) -> str:
    return f"2026-11-21T03:{minute:02d}:00Z"


def space(**metadata: Any) -> Namespace:
    labels = {"yardmaster.io/training": "detr", "team": "vision"}
    notes = {"yardmaster.io/owner": "ana"}
    return read(Namespace, {"metadata": {"name": SPACE, "labels": labels, "annotations": notes, **metadata}})


def job(
    name: str = "detr-worker", namespace: str = SPACE, ranks: int = 2, each: int = 8, **parts: Any
) -> Job:
    template = {"spec": {"containers": [gpus(each) if each else container()]}}
    conditions = [
        {"type": type_, "status": "True", "reason": reason, "lastTransitionTime": at(50)}
        for type_, reason in parts.pop("true", {}).items()
    ]
    spec = {"parallelism": ranks, "completions": ranks, "template": template, **parts.pop("spec", {})}
    status = {"startTime": at(1), "conditions": conditions}
    metadata = {"name": name, "namespace": namespace, "creationTimestamp": at(0), **parts}
    return read(Job, {"metadata": metadata, "spec": spec, "status": status})


def rank(index: int, attempt: int = 0, **status: Any) -> Pod:
    """Return a worker's pod; attempts of one index are a minute apart."""
    return pod(
        f"detr-worker-{index}-{attempt}",
        SPACE,
        labels={INDEX: str(index)},
        ownerReferences=owned("Job", "detr-worker"),
        creationTimestamp=at(attempt),
        spec={"nodeName": status.pop("node", "n1"), "containers": [gpus(8)]},
        status=status,
    )


def ended(code: int, minute: int, reason: str = "Error", name: str = "main") -> dict[str, Any]:
    return {
        "name": name,
        "state": {"terminated": {"exitCode": code, "reason": reason, "finishedAt": at(minute)}},
    }


def failed(index: int, code: int, minute: int, reason: str = "Error", **more: Any) -> Pod:
    return rank(index, phase="Failed", containerStatuses=[ended(code, minute, reason)], **more)


def servers(replicas: int = 1, phase: str = "Running", name: str = "detr-ps") -> list[Any]:
    owner = {"name": f"{name}-77", "namespace": SPACE, "ownerReferences": owned("Deployment", name)}
    return [
        read(Deployment, {"metadata": {"name": name, "namespace": SPACE}, "spec": {"replicas": replicas}}),
        read(ReplicaSet, {"metadata": owner}),
        *(
            pod(
                f"{name}-77-{n}",
                SPACE,
                ownerReferences=owned("ReplicaSet", f"{name}-77"),
                status={"phase": phase},
            )
            for n in range(replicas)
        ),
    ]


def only(seen: Inventory) -> Training:
    (view,) = read_trainings(seen)
    return view


def test_a_dedicated_namespace_is_one_training_with_workers_and_servers() -> None:
    view = only(inventory(space(), job(), rank(0), rank(1, node="n2"), *servers(2)))
    assert (view.id, view.kind, view.owner, view.team) == (
        "vision-detr/Namespace/vision-detr",
        "Job",
        "ana",
        "vision",
    )
    assert (view.state, view.reason, view.has_namespace) == (TrainingState.RUNNING, "", True)
    assert [(one.role, one.index, one.node, one.gpus) for one in view.ranks] == [
        ("worker", 0, "n1", 8),
        ("worker", 1, "n2", 8),
        ("ps", 0, "", 0),
        ("ps", 1, "", 0),
    ]
    assert (view.gpus, view.gpus_wanted, view.wanted) == (16, 16, 4)
    assert view.workloads == ("vision-detr/Job/detr-worker", "vision-detr/Deployment/detr-ps")
    assert view.started == datetime(2026, 11, 21, 3, 1, tzinfo=UTC)
    assert view.finished is None


def test_a_job_that_requests_gpus_is_a_training_and_others_are_not() -> None:
    of_a_jobset = job("inner", "b", ownerReferences=owned("JobSet", "outer"))
    nightly = job("nightly-1", "c", ownerReferences=owned("CronJob", "nightly"), annotations={"owner": "bo"})
    found = read_trainings(inventory(job("plain", "a"), job("report", "a", each=0), of_a_jobset, nightly))
    assert [(view.id, view.owner, view.has_namespace) for view in found] == [
        ("a/Job/plain", "", False),
        ("c/Job/nightly-1", "bo", False),
    ]


def test_a_training_labelled_true_has_the_name_of_its_namespace() -> None:
    assert (
        only(inventory(space(labels={"yardmaster.io/training": "true"}), job())).shown
        == "vision-detr/vision-detr"
    )


UNSCHEDULABLE: dict[str, Any] = {
    "phase": "Pending",
    "node": "",
    "conditions": [
        {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "0/16 nodes"}
    ],
}
PULLING: dict[str, Any] = {
    "phase": "Pending",
    "containerStatuses": [{"name": "main", "state": {"waiting": {"reason": "ImagePullBackOff"}}}],
}
STATES: list[tuple[str, list[Any], TrainingState, str]] = [
    ("running when every rank is running", [job(), rank(0), rank(1)], TrainingState.RUNNING, ""),
    (
        "running when one rank has succeeded",
        [job(), rank(0), rank(1, phase="Succeeded")],
        TrainingState.RUNNING,
        "",
    ),
    ("queued before there are pods", [job()], TrainingState.QUEUED, "0 of 2 ranks are running"),
    (
        "queued when nothing is placed",
        [job(), rank(0, **UNSCHEDULABLE), rank(1, **UNSCHEDULABLE)],
        TrainingState.QUEUED,
        "0/16 nodes",
    ),
    (
        "starting when some are placed",
        [job(), rank(0), rank(1, **UNSCHEDULABLE)],
        TrainingState.STARTING,
        "1 of 2 ranks is running",
    ),
    (
        "starting while an image cannot be pulled",
        [job(), rank(0), rank(1, **PULLING)],
        TrainingState.STARTING,
        "1 of 2 ranks is running; worker 1 is ImagePullBackOff",
    ),
    (
        "starting until its servers are running",
        [job(), rank(0), rank(1), *servers(1, "Pending")],
        TrainingState.STARTING,
        "2 of 3 ranks are running",
    ),
    (
        "running without its tensorboard",
        [job(), rank(0), rank(1), *servers(1, "Pending", "tensorboard")],
        TrainingState.RUNNING,
        "",
    ),
    ("suspended", [job(spec={"suspend": True})], TrainingState.SUSPENDED, "suspended"),
    (
        "succeeded",
        [job(true={"Complete": "CompletionsReached"})],
        TrainingState.SUCCEEDED,
        "CompletionsReached",
    ),
    ("failed", [job(true={"Failed": "BackoffLimitExceeded"})], TrainingState.FAILED, "BackoffLimitExceeded"),
    (
        "failed as soon as the failure is certain",
        [job(true={"FailureTarget": "BackoffLimitExceeded"}), rank(0)],
        TrainingState.FAILED,
        "Backoff",
    ),
    (
        "stopped by its deadline",
        [job(true={"Failed": "DeadlineExceeded"})],
        TrainingState.STOPPED,
        "Deadline",
    ),
    (
        "stopped while its Job is deleted",
        [job(deletionTimestamp=at(9), deletionGracePeriodSeconds=0)],
        TrainingState.STOPPED,
        "deleted",
    ),
    (
        "stopped when only its servers remain",
        servers(2),
        TrainingState.STOPPED,
        "1 other workload remains",
    ),
]


@pytest.mark.parametrize(
    ("objects", "state", "reason"), [case[1:] for case in STATES], ids=[case[0] for case in STATES]
)
def test_a_training_is(objects: list[Any], state: TrainingState, reason: str) -> None:
    view = only(inventory(space(), *objects))
    assert view.state is state
    assert reason in view.reason


def test_deleting_the_namespace_stops_its_training() -> None:
    view = only(inventory(space(deletionTimestamp=at(9)), job(), rank(0), rank(1)))
    assert (view.state, view.reason) == (TrainingState.STOPPED, "its namespace is being deleted")


def test_the_first_failure_has_its_rank_and_reason() -> None:
    view = only(
        inventory(
            space(),
            job(ranks=3, true={"Failed": "BackoffLimitExceeded"}),
            failed(0, 134, 12),
            failed(1, 137, 11, "OOMKilled", node="n7"),
            failed(2, 143, 13),
        )
    )
    first = view.first_failure
    assert first is not None
    assert (first.index, first.node, first.exit_code, first.reason) == (1, "n7", 137, "OOMKilled")
    assert first.explanation == "it used more memory than its limit and was killed"
    assert [one.index for one in view.failures] == [1, 0, 2]
    assert view.gpus == 0
    assert view.finished == datetime(2026, 11, 21, 3, 50, tzinfo=UTC)


def test_a_successful_end_is_not_a_failure() -> None:
    view = only(
        inventory(
            space(), job(ranks=1), rank(0, phase="Succeeded", containerStatuses=[ended(0, 5, "Completed")])
        )
    )
    assert view.first_failure is None
    assert view.ranks[0].exit_code == 0


def test_earlier_attempts_and_restarts_are_failures_and_the_newest_pod_is_the_rank() -> None:
    restarted = {
        "name": "main",
        "restartCount": 1,
        "state": {"running": {}},
        "lastState": {"terminated": {"exitCode": 139, "finishedAt": at(8)}},
    }
    view = only(
        inventory(
            space(),
            job(),
            failed(0, 1, 7),
            rank(0, attempt=1),
            rank(1, containerStatuses=[restarted]),
        )
    )
    assert [(one.index, one.pod, one.restarts) for one in view.ranks] == [
        (0, "detr-worker-0-1", 0),
        (1, "detr-worker-1-0", 1),
    ]
    assert [(one.index, one.exit_code) for one in view.failures] == [(0, 1), (1, 139)]
    assert view.state is TrainingState.RUNNING


def test_a_disrupted_pod_without_an_exit_code_is_a_failure() -> None:
    disrupted: dict[str, Any] = {
        "phase": "Failed",
        "conditions": [
            {
                "type": "DisruptionTarget",
                "status": "True",
                "reason": "DeletionByTaintManager",
                "lastTransitionTime": at(5),
            }
        ],
    }
    view = only(inventory(space(), job(), rank(0, **disrupted), failed(1, 134, 6)))
    first = view.first_failure
    assert first is not None
    assert (first.index, first.exit_code, first.reason) == (0, None, "DeletionByTaintManager")
    assert "removed because of a taint on its node" in first.explanation


def test_a_failed_init_container_is_a_failure() -> None:
    broken = rank(0, phase="Failed", initContainerStatuses=[ended(2, 3, name="download")])
    first = only(inventory(space(), job(ranks=1), broken)).first_failure
    assert first is not None
    assert first.exit_code == 2


def test_kinds_that_cannot_be_seen_are_named() -> None:
    found = unseen_kinds(inventory(missing={"jobs": "forbidden", "events": "x"}))
    of_jobs = ("Job", "JobSet", "TrainJob", "RayJob", "MPIJob.v2beta1.kubeflow.org")  # all have Jobs
    assert found == dict.fromkeys(of_jobs, "forbidden")
    assert unseen_kinds(inventory()) == {}


@pytest.mark.parametrize("index", ["²", "٣", "9" * 5000, "-1", "1.5", ""])
def test_an_index_that_is_not_a_number_is_ignored(index: str) -> None:
    odd = pod(
        "p", SPACE, ownerReferences=owned("Job", "detr-worker"), annotations={"yardmaster.io/index": index}
    )

    view = only(inventory(space(), job(ranks=1), odd))

    assert [one.index for one in view.ranks] == [0]


def test_ranks_that_wait_for_a_node_hold_no_gpus() -> None:
    view = only(
        inventory(space(), job(), rank(0, node="", phase="Pending"), rank(1, node="", phase="Pending"))
    )
    assert (view.state, view.gpus, view.gpus_wanted) == (TrainingState.QUEUED, 0, 16)


def test_a_job_of_a_cron_job_has_its_pods() -> None:
    nightly = job("detr-worker", ownerReferences=owned("CronJob", "detr"))
    view = only(inventory(nightly, rank(0), rank(1)))
    assert (view.state, len(view.ranks), view.gpus) == (TrainingState.RUNNING, 2, 16)


def test_a_training_is_read_again_only_when_a_part_of_it_changed() -> None:
    parts = [space(), job(), rank(0), rank(1)]
    before = inventory(*parts)
    after = replace(inventory(*parts), memo=Memo(before.memo))
    (first,), (second,) = read_trainings(before), read_trainings(after)
    assert second is first
    changed = replace(inventory(*parts[:-1], rank(1, phase="Failed")), memo=Memo(after.memo))
    assert only(changed).gpus == 8


def test_trainings_of_one_name_all_have_ids_of_their_own() -> None:
    def named(name: str) -> Any:
        return job(name=name, namespace="shared", labels={"training": "detr"})

    seen = inventory(named("a"), named("b"), named("c"), job(name="detr-job", namespace="shared"))
    ids = [view.id for view in read_trainings(seen)]
    assert len(ids) == len(set(ids)) == 4
