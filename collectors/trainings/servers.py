"""Servers of a training in a namespace of its own: its Deployments and StatefulSets, of any kind of training."""

from collectors.cluster.gpu_claims import GpuClaims
from collectors.cluster.indexes import workload_of
from collectors.cluster.objects import Workload
from collectors.trainings.ranks import pods_by_index
from collectors.trainings.reading_kind import Owned, RolePods, TrainingPart
from collectors.trainings.training import ROLE_KEYS, annotation_of

AUXILIARY_ROLES = ("tensorboard", "notebook")  # roles that do not take part in the computation


def server_part(server: Workload, pods: Owned, claims: GpuClaims) -> TrainingPart:
    """Return a server as a part of the training."""
    tasks = RolePods(
        role=_role_of(server),
        replicas=1 if server.spec.replicas is None else server.spec.replicas,
        gpus=sum(claims.of_spec(server.spec.template.spec).values()),
        pods=pods_by_index(pods),
    )
    return TrainingPart(meta=server.metadata, workload=workload_of(server), roles=(tasks,), is_server=True)


def _role_of(server: Workload) -> str:
    """Return the annotated role; else `ps` for a server that is not auxiliary by its name."""
    if role := annotation_of(server.metadata, ROLE_KEYS):
        return role
    return next((role for role in AUXILIARY_ROLES if role in server.metadata.name), "ps")
