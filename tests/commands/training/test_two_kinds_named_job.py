"""Volcano's Job beside batch's, of one name in one namespace: each is read, named and stopped without the other."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, ClassVar

import pytest

from collectors.cluster.base import KubernetesObject
from collectors.cluster.gpu_claims import GpuClaims
from collectors.cluster.indexes import by_namespace, by_owner, workload_of
from collectors.cluster.inventory import Inventory
from collectors.cluster.kinds import ResourceKind
from collectors.cluster.object_store import snapshot_of
from collectors.cluster.objects import Job
from collectors.trainings import catalogue, job
from collectors.trainings.ranks import pods_by_index
from collectors.trainings.reading_kind import Owned, ReadingKind, RolePods, TrainingPart
from commands.core.command import UnusableError
from commands.plans.steps import Delete
from commands.training import job as writing_job
from commands.training import training_kinds, workload_steps
from commands.training.lookup import training_named
from commands.training.workload_steps import stop_steps
from tests.support.objects import gpus, inventory, owned, pod, read

NOW = datetime(2026, 11, 21, 3, tzinfo=UTC)
VOLCANO = "batch.volcano.sh/v1alpha1"


class VolcanoJob(KubernetesObject, frozen=True):
    api_kind: ClassVar[str] = "Job.batch.volcano.sh"


VCJOBS = ResourceKind(
    name="jobs.batch.volcano.sh",
    path=f"/apis/{VOLCANO}/jobs",
    type=VolcanoJob,
    indexes=(by_namespace, by_owner),
)


def _is_training(_one: VolcanoJob, _claims: GpuClaims) -> bool:
    return True


def _pods(one: VolcanoJob, seen: Inventory) -> Owned:
    return seen.pods_of(workload_of(one))


def _part(one: VolcanoJob, pods: Owned, _claims: GpuClaims) -> TrainingPart:
    role = RolePods(role="worker", replicas=len(pods), gpus=8, pods=pods_by_index(pods))
    return TrainingPart(meta=one.metadata, workload=workload_of(one), roles=(role,))


READING: ReadingKind[VolcanoJob] = ReadingKind(
    objects=VCJOBS, summary="a Job of Volcano", is_training=_is_training, owned=_pods, part=_part
)
WRITING = replace(writing_job.KIND, objects=VCJOBS, typed="vcjob")


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> Inventory:
    """A cluster with both, each with a pod of its own."""
    monkeypatch.setattr(catalogue, "KINDS", (job.KIND, READING))
    monkeypatch.setitem(training_kinds.KINDS, WRITING.name, WRITING)
    monkeypatch.setitem(workload_steps._OBJECTS, WRITING.name, VCJOBS)
    meta: dict[str, Any] = {"name": "bert", "namespace": "vision"}
    template = {"spec": {"containers": [gpus(8)]}}
    batch = read(Job, {"metadata": {**meta, "uid": "batch"}, "spec": {"template": template}})
    volcano = read(VolcanoJob, {"metadata": {**meta, "uid": "volcano"}})
    of_volcano = [{"apiVersion": VOLCANO, "kind": "Job", "name": "bert", "uid": "v", "controller": True}]
    found = inventory(
        batch,
        pod("bert-x", "vision", spec=template["spec"], ownerReferences=owned("Job", "bert")),
        pod("bert-task-0", "vision", spec=template["spec"], ownerReferences=of_volcano),
    )
    return replace(found, snapshots={**found.snapshots, VCJOBS.name: snapshot_of(VCJOBS, (volcano,), at=NOW)})


def test_both_are_read_each_with_its_own_pods(seen: Inventory) -> None:
    found = catalogue.read_trainings(seen)
    assert [(one.id, one.shown, [rank.pod for rank in one.ranks]) for one in found] == [
        ("vision/Job.batch.volcano.sh/bert", "vision/bert", ["bert-task-0"]),
        ("vision/Job/bert", "vision/bert", ["bert-x"]),
    ]


def test_the_name_that_both_have_is_answered_with_what_to_type(seen: Inventory) -> None:
    found = catalogue.read_trainings(seen)
    with pytest.raises(UnusableError) as answered:
        training_named("vision/bert", found)
    for one in found:
        assert f"`{one.typed}`" in str(answered.value)
        assert training_named(one.typed, found) is one
        assert training_named(f"prod-a/{one.id}", found) is one


def test_each_is_stopped_without_the_other(seen: Inventory) -> None:
    for one in catalogue.read_trainings(seen):
        (step,) = stop_steps(one, seen)
        assert isinstance(step, Delete)
        uid = "volcano" if "volcano" in one.id else "batch"
        assert (step.ref.uid, step.ref.kind, step.ref.name) == (uid, "Job", "bert")
        assert step.ref.api == (VOLCANO if uid == "volcano" else "batch/v1")


def test_it_is_typed_by_a_name_of_its_own() -> None:
    assert (WRITING.option, writing_job.KIND.option) == ("vcjob", "job")
