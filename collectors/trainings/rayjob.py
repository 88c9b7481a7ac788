"""Trainings as RayJobs: the head, each group of workers and the submitter are roles. Source: `ray.io/v1`, KubeRay 1.7.

The submitter is the pod of a Job. It submits the command, prints its log until it has ended, and ends as it did: the
operator deletes all other pods of a job that has ended.
"""

from collectors.cluster.gpu_claims import GpuClaims
from collectors.cluster.indexes import is_unowned, workload_of
from collectors.cluster.inventory import Inventory
from collectors.cluster.kinds import JOBS, RAYJOBS
from collectors.cluster.objects import Pod, RayJob
from collectors.cluster.ray_jobs import RayClusterSpec
from collectors.cluster.workloads import PodTemplateSpec
from collectors.facts.sentences import listed
from collectors.facts.workload_keys import workload_key
from collectors.trainings.ranks import pods_by_index
from collectors.trainings.reading_kind import Owned, ReadingKind, RolePods, TrainingPart
from collectors.trainings.training import TrainingState

_CLUSTER = "RayCluster.ray.io"
_NODE_TYPE, _GROUP = "ray.io/node-type", "ray.io/group"  # labels of its pods
_HEAD, SUBMITTER = "head", "submitter"
_BY_A_JOB = ("", "K8sJobMode")  # how a command is submitted
_OVER = ("Complete", "Failed", "ValidationFailed")
_ENDS = {
    "SUCCEEDED": TrainingState.SUCCEEDED,
    "STOPPED": TrainingState.STOPPED,
    "FAILED": TrainingState.FAILED,
}
_INTENDED = "DeadlineExceeded"  # a limit that its owner set


def rayjob_end(one: RayJob) -> tuple[TrainingState | None, str]:
    """Return how it has ended, and why; None while it has not, also after a failure that is tried again."""
    status = one.status
    if status.job_deployment_status not in _OVER:
        return None, ""
    reason = listed(filter(None, (status.reason, status.message)), ":") or status.job_deployment_status
    if status.reason == _INTENDED:
        return TrainingState.STOPPED, reason
    if status.job_deployment_status == "Complete":
        return _ENDS.get(status.job_status, TrainingState.SUCCEEDED), reason
    return TrainingState.FAILED, reason


def _is_training(one: RayJob, claims: GpuClaims) -> bool:
    return is_unowned(one) and any(_gpus(template, claims) for _, _, template in _roles(one))


def _pods(one: RayJob, inventory: Inventory) -> Owned:
    """The pods of its cluster, whose name the status has, and of the Job that submits it."""
    pods = inventory.pods_of(workload_of(one))
    return (*pods, *inventory.pods_of(cluster)) if (cluster := _cluster_of(one)) else pods


def _part(one: RayJob, owned: Owned, claims: GpuClaims) -> TrainingPart:
    ended, reason = rayjob_end(one)
    cluster = _cluster_of(one)
    pods = tuple(pod for pod in owned if isinstance(pod, Pod))
    classes = (template.spec.priority_class_name for _, _, template in _roles(one))
    return TrainingPart(
        meta=one.metadata,
        workload=workload_of(one),
        roles=tuple(
            RolePods(
                role=name,
                replicas=count,
                gpus=_gpus(template, claims),
                pods=pods_by_index(pod for pod in pods if _role_of(pod) == name),
            )
            for name, count, template in _roles(one)
        ),
        ended=ended,
        reason=reason,
        is_suspended=one.spec.suspend,
        priority=next(filter(None, classes), ""),
        owned=(cluster,) if cluster else (),
        started=one.status.start_time,
        finished=one.status.end_time,
        limit=one.spec.active_deadline_seconds,
    )


def _roles(one: RayJob) -> list[tuple[str, int, PodTemplateSpec]]:
    cluster = one.spec.ray_cluster_spec or RayClusterSpec()
    workers = [(group.group_name, group.count, group.template) for group in cluster.worker_group_specs or ()]
    roles = [(_HEAD, 1, cluster.head_group_spec.template), *workers]
    return [*roles, (SUBMITTER, 1, PodTemplateSpec())] if one.spec.submission_mode in _BY_A_JOB else roles


def _role_of(pod: Pod) -> str:
    labels = pod.metadata.labels or {}
    return _HEAD if labels.get(_NODE_TYPE) == _HEAD else labels.get(_GROUP, SUBMITTER)


def _cluster_of(one: RayJob) -> str:
    name = one.status.ray_cluster_name
    return workload_key(one.metadata.namespace, _CLUSTER, name) if name else ""


def _gpus(template: PodTemplateSpec, claims: GpuClaims) -> float:
    return sum(claims.of_spec(template.spec).values())


KIND: ReadingKind[RayJob] = ReadingKind(
    objects=RAYJOBS,
    summary="a RayJob that requests GPUs, unless it has an owner",
    is_training=_is_training,
    owned=_pods,
    part=_part,
    others=(JOBS,),
)
