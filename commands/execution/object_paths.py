"""The paths of objects on the API server, of those that are cached and those that are only written."""

from collectors.cluster import kinds
from commands.execution.object_refs import ObjectRef

# (apiVersion, kind) -> (plural, whether it is namespaced): what is written and not cached
_NOT_CACHED: dict[tuple[str, str], tuple[str, bool]] = {
    ("v1", "Secret"): ("secrets", True),
    ("batch/v1", "CronJob"): ("cronjobs", True),
    ("autoscaling/v2", "HorizontalPodAutoscaler"): ("horizontalpodautoscalers", True),
    ("scheduling.k8s.io/v1", "PriorityClass"): ("priorityclasses", False),
    ("bus.volcano.sh/v1alpha1", "Command"): ("commands", True),
    ("kueue.x-k8s.io/v1beta2", "ClusterQueue"): ("clusterqueues", False),
    ("kueue.x-k8s.io/v1beta2", "LocalQueue"): ("localqueues", True),
    ("kueue.x-k8s.io/v1beta2", "WorkloadPriorityClass"): ("workloadpriorityclasses", False),
    ("scheduling.volcano.sh/v1beta1", "Queue"): ("queues", False),
    ("scheduling.volcano.sh/v1beta1", "PodGroup"): ("podgroups", True),
    ("scheduling.x-k8s.io/v1alpha1", "PodGroup"): ("podgroups", True),
    ("scheduling.k8s.io/v1beta1", "PodGroup"): ("podgroups", True),
    ("scheduling.k8s.io/v1alpha2", "PodGroup"): ("podgroups", True),
    ("nvsentinel.nvidia.com/v1alpha1", "ValidationRequest"): ("validationrequests", False),
    ("nvcre.nvidia.com/v1alpha1", "Certification"): ("certifications", True),
    ("cre.nvidia.com/v1alpha1", "Certification"): ("certifications", True),
    ("readiness.node.x-k8s.io/v1alpha1", "NodeReadinessRule"): ("nodereadinessrules", False),
}


def collection(ref: ObjectRef) -> str:
    """Return the path of the object's collection. Raises KeyError for a kind that is not known here.

    Without a namespace it is that of all namespaces.
    """
    plural, is_namespaced = _collection(ref.api, ref.kind)
    root = "/api/v1" if ref.api == "v1" else f"/apis/{ref.api}"
    return (
        f"{root}/namespaces/{ref.namespace}/{plural}"
        if is_namespaced and ref.namespace
        else f"{root}/{plural}"
    )


def _collection(api: str, kind: str) -> tuple[str, bool]:
    for one in kinds.DEFAULT_KINDS:
        if (one.api, one.kind) == (api, kind):
            return one.path.rpartition("/")[2], one.is_namespaced
    return _NOT_CACHED[(api, kind)]


def address(ref: ObjectRef, subresource: str = "") -> str:
    """Return the path of the object or of its subresource."""
    return f"{collection(ref)}/{ref.name}" + (f"/{subresource}" if subresource else "")
