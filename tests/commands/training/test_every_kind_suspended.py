"""Each kind of training suspended, resumed and stopped, by itself and under Kueue."""

import json
from dataclasses import replace

import msgspec
import pytest

from collectors.cluster.base import KubernetesObject
from collectors.cluster.indexes import kind_in_api
from collectors.cluster.inventory import Inventory
from collectors.cluster.kueue_workloads import KueueWorkload
from collectors.facts.workload_keys import workload_key
from collectors.trainings.catalogue import read_trainings
from collectors.trainings.training import TrainingState
from commands.core.command import UnusableError
from commands.execution.steps import Create, Delete, Patch, Scale
from commands.training.spec import KUEUE
from commands.training.workload_steps import resume_steps, stop_steps, suspend_steps
from commands.training.writing_kind import WritingKind
from tests.support.every_kind import (
    API_OF,
    QUEUE,
    SPEC,
    WRITTEN,
    decoded,
    each_created_suspended,
    each_in_kueue,
    each_launched,
    each_suspended,
    launched,
    launching_of,
    steps_of_launch,
    with_end,
)
from tests.support.objects import inventory


@each_suspended
def test_its_suspension_frees_the_gpus_and_is_undone(kind: WritingKind) -> None:
    seen = launched(kind)
    (training,) = read_trainings(seen)
    steps = suspend_steps(training, seen)
    assert any(isinstance(step, Scale) for step in steps) == any(
        "/Deployment/" in workload for workload in training.workloads
    )
    own = [step for step in steps if not isinstance(step, Scale)]
    assert own
    assert all(step.inverse("") is not None and step.namespaces() == ("mnist",) for step in own)


@each_created_suspended
def test_it_is_not_suspended_twice(kind: WritingKind) -> None:
    trees = [step.manifest for step in steps_of_launch(kind) if isinstance(step, Create)]
    seen = inventory(*(decoded(tree, {}) for tree in trees))
    (training,) = read_trainings(seen)
    assert training.state is TrainingState.SUSPENDED
    assert not [step for step in suspend_steps(training, seen) if not isinstance(step, Scale)]


@each_launched
def test_what_cannot_be_suspended_is_refused_with_the_way_to_stop_it(
    kind: WritingKind, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(WRITTEN, kind.name, replace(kind, suspending=None))
    for labels in ({}, QUEUE):
        seen = launched(kind, **labels)
        (training,) = read_trainings(seen)
        with pytest.raises(
            UnusableError, match="cannot be suspended: `training stop mnist/mnist` deletes it"
        ):
            suspend_steps(training, seen)
        assert stop_steps(training, seen)


def admitted(seen: Inventory, *, active: bool = True) -> Inventory:
    """Return the cluster with a Workload of Kueue for each object that it manages."""
    objects = [one for of in seen.snapshots.values() for one in of.objects.values()]
    managed = [one for one in objects if "kueue.x-k8s.io/queue-name" in (one.metadata.labels or {})]
    return inventory(*objects, *(a_workload(one, active=active) for one in managed))


def a_workload(of: KubernetesObject, *, active: bool) -> KueueWorkload:
    api = API_OF[of.kind_in_keys()]
    owner = {"apiVersion": api, "kind": of.kind_in_keys().partition(".")[0], "name": of.metadata.name}
    meta = {
        "name": f"wl-{of.metadata.name}",
        "namespace": of.metadata.namespace,
        "uid": f"uid-wl-{of.metadata.name}",
        "ownerReferences": [{**owner, "uid": of.metadata.uid, "controller": True}],
    }
    tree = {"metadata": meta, "spec": {"active": active, "queueName": "gpus"}}
    return msgspec.json.decode(json.dumps(tree), type=KueueWorkload)


@each_in_kueue
def test_what_kueue_manages_is_suspended_and_resumed_through_its_workload(kind: WritingKind) -> None:
    seen = admitted(launched(kind, **QUEUE))
    (training,) = read_trainings(seen)
    steps = [step for step in suspend_steps(training, seen) if not isinstance(step, Scale)]
    assert steps
    for step in steps:
        assert isinstance(step, Patch)
        assert (step.ref.kind, step.body) == ("Workload", {"spec": {"active": False}})
        undone = step.inverse("")
        assert undone is not None
        assert undone.body == {"spec": {"active": True}}
    held = admitted(launched(kind, **QUEUE), active=False)
    (training,) = read_trainings(held)
    assert (training.state, training.queue) == (TrainingState.SUSPENDED, "gpus")
    back = [step for step in resume_steps(training, held)[0] if not isinstance(step, Scale)]
    assert [step.body for step in back if isinstance(step, Patch)] == [{"spec": {"active": True}}] * len(
        steps
    )


@each_in_kueue
def test_what_runs_under_kueue_without_a_workload_is_neither_suspended_nor_deleted(kind: WritingKind) -> None:
    seen = launched(kind, **QUEUE)
    (training,) = read_trainings(seen)
    with pytest.raises(UnusableError, match="managed by Kueue, and no Workload of it is seen"):
        suspend_steps(training, seen)


@each_created_suspended
def test_what_kueue_holds_back_waits_and_is_not_called_suspended(kind: WritingKind) -> None:
    """Kueue suspends what it has not admitted."""
    trees = [step.manifest for step in steps_of_launch(kind) if isinstance(step, Create)]
    seen = inventory(*(decoded(tree, QUEUE) for tree in trees))
    (training,) = read_trainings(seen)
    assert (training.state, training.reason) == (
        TrainingState.QUEUED,
        "Kueue has not picked it up yet in queue gpus",
    )
    (training,) = read_trainings(admitted(seen))
    assert (training.state, training.reason) == (TrainingState.QUEUED, "it waits in queue gpus of Kueue")


@each_created_suspended
def test_what_somebody_suspended_is_resumed(kind: WritingKind) -> None:
    trees = [step.manifest for step in steps_of_launch(kind) if isinstance(step, Create)]
    seen = inventory(*(decoded(tree, {}) for tree in trees))
    (training,) = read_trainings(seen)
    steps, notes = resume_steps(training, seen)
    assert not notes
    assert [step for step in steps if not isinstance(step, Scale)]
    assert all(step.inverse("uid") is not None for step in steps)


@each_in_kueue
def test_a_kind_that_is_in_a_queue_of_kueue_is_never_started_by_us(kind: WritingKind) -> None:
    launching = launching_of(kind)
    alone = replace(SPEC, roles=SPEC.roles[:1], queue="gpus", queue_system=KUEUE, queue_priority="high")
    steps = launching.steps(alone)
    tops = [step for step in steps if isinstance(step, Create) and step.ref.api == kind.objects.api]
    assert len(tops) == len(steps)
    for step in tops:
        labels = step.manifest["metadata"]["labels"]
        assert labels["kueue.x-k8s.io/queue-name"] == "gpus"
        assert labels["kueue.x-k8s.io/priority-class"] == "high"


@each_launched
def test_what_has_ended_is_neither_suspended_nor_deleted(kind: WritingKind) -> None:
    for labels in ({}, QUEUE):
        seen = launched(kind, **labels)
        (training,) = read_trainings(seen)
        over = inventory(
            *(with_end(one, kind) for of in seen.snapshots.values() for one in of.objects.values())
        )
        steps = [step for step in suspend_steps(training, over) if not isinstance(step, Scale)]
        assert not steps, steps[0].description


@each_launched
def test_it_is_stopped_by_deleting_exactly_its_top_objects(kind: WritingKind) -> None:
    seen = launched(kind)
    (training,) = read_trainings(seen)
    steps = [step for step in stop_steps(training, seen) if isinstance(step, Delete)]
    deleted = [
        workload_key(step.ref.namespace, kind_in_api(step.ref.kind, step.ref.api), step.ref.name)
        for step in steps
    ]
    assert deleted == list(training.workloads)
    assert all(step.ref.uid for step in steps)
