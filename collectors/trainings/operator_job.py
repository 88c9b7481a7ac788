"""The reader of the jobs of Kubeflow's Training Operator, version 1.9: each replica type is a role."""

import re
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

from collectors.cluster.conditions import condition_text, true_condition
from collectors.cluster.gpu_claims import GpuClaims
from collectors.cluster.indexes import is_unowned, workload_of
from collectors.cluster.inventory import Inventory
from collectors.cluster.kinds import ResourceKind
from collectors.cluster.objects import Pod
from collectors.cluster.operator_jobs import OperatorJob, OperatorJobStatus, ReplicaSpec
from collectors.trainings.ranks import pods_by_index
from collectors.trainings.reading_kind import Owned, ReadingKind, RolePods, TrainingPart
from collectors.trainings.training import TrainingState

T = TypeVar("T", bound=OperatorJob)

REPLICA_TYPE, REPLICA_INDEX = (
    "training.kubeflow.org/replica-type",
    "training.kubeflow.org/replica-index",
)  # labels of its pods
_DEADLINE = "active longer than specified deadline"  # it has no reason of its own
_ELASTIC = "worker"  # the role whose number may change
_NUMBER = re.compile(r"[0-9]{1,9}")


def operator_job_end(status: OperatorJobStatus) -> tuple[TrainingState | None, str]:
    """Return how it has ended, and why; None while it has not. The last condition need not be the one that holds."""
    if failed := true_condition(status.conditions, "Failed"):
        is_intended = _DEADLINE in failed.message
        return TrainingState.STOPPED if is_intended else TrainingState.FAILED, condition_text(failed)
    if succeeded := true_condition(status.conditions, "Succeeded"):
        return TrainingState.SUCCEEDED, condition_text(succeeded)
    return None, ""


def operator_reading(
    objects: ResourceKind[T],
    *,
    owners: tuple[str, ...] = (),
    role_label: str = REPLICA_TYPE,
    others: tuple[ResourceKind[Any], ...] = (),
    typed: str = "",
) -> ReadingKind[T]:
    """Return the kind of these jobs. `owners`: kinds that may own one, and do not manage it.

    `others`: kinds of objects through which it owns pods.
    """

    def is_training(one: T, claims: GpuClaims) -> bool:
        return is_unowned(one, *owners) and any(_gpus(role, claims) for role in one.spec.roles.values())

    return ReadingKind(
        objects=objects,
        summary=f"a {objects.kind} that requests GPUs, unless it has an owner",
        is_training=is_training,
        owned=_pods,
        part=partial(_part, role_label),
        others=others,
        typed=typed,
    )


def _pods(one: OperatorJob, inventory: Inventory) -> Owned:
    return inventory.pods_of(workload_of(one))


def _part(role_label: str, one: OperatorJob, owned: Owned, claims: GpuClaims) -> TrainingPart:
    ended, reason = operator_job_end(one.status)
    roles = one.spec.roles
    policy = one.spec.run_policy.scheduling_policy
    finished = true_condition(one.status.conditions, "Failed", "Succeeded")
    least = one.spec.least
    if least is not None:  # of all tasks; those of other roles always run
        least = max(0, least - sum(role.count for name, role in roles.items() if name.lower() != _ELASTIC))
    classes = (role.template.spec.priority_class_name for role in roles.values())
    return TrainingPart(
        meta=one.metadata,
        workload=workload_of(one),
        roles=tuple(
            replace(
                _role(role_label, name.lower(), role, owned, claims),
                least=least if name.lower() == _ELASTIC else None,
            )
            for name, role in roles.items()
        ),
        ended=ended,
        reason=reason,
        is_suspended=one.spec.run_policy.suspend,
        priority=(policy.priority_class if policy else "") or next(filter(None, classes), ""),
        started=one.status.start_time,
        finished=one.status.completion_time or (finished.last_transition_time if finished else None),
        limit=one.spec.run_policy.active_deadline_seconds,
    )


def _role(label: str, name: str, role: ReplicaSpec, owned: Owned, claims: GpuClaims) -> RolePods:
    """Read one role. A pod without the number of its rank gets one by its age."""
    own = [one for one in owned if isinstance(one, Pod) and _label(one, label).lower() == name]
    numbered = [
        (int(number[0]) if (number := _NUMBER.fullmatch(_label(pod, REPLICA_INDEX))) else otherwise, pod)
        for otherwise, pod in pods_by_index(own)
    ]
    return RolePods(role=name, replicas=role.count, gpus=_gpus(role, claims), pods=tuple(numbered))


def _gpus(role: ReplicaSpec, claims: GpuClaims) -> float:
    return sum(claims.of_spec(role.template.spec).values())


def _label(pod: Pod, key: str) -> str:
    return (pod.metadata.labels or {}).get(key, "")
