"""This file has the kinds of object that commands write, and their addresses. A kind is one row."""

from commands.steps import ObjectRef

# (apiVersion, kind) -> (plural, whether it lives in a namespace)
_KINDS: dict[tuple[str, str], tuple[str, bool]] = {
    ("v1", "Namespace"): ("namespaces", False),
    ("v1", "Node"): ("nodes", False),
    ("v1", "Pod"): ("pods", True),
    ("v1", "Service"): ("services", True),
    ("v1", "ConfigMap"): ("configmaps", True),
    ("v1", "Secret"): ("secrets", True),
    ("apps/v1", "Deployment"): ("deployments", True),
    ("apps/v1", "StatefulSet"): ("statefulsets", True),
    ("apps/v1", "ReplicaSet"): ("replicasets", True),
    ("batch/v1", "Job"): ("jobs", True),
    ("autoscaling/v2", "HorizontalPodAutoscaler"): ("horizontalpodautoscalers", True),
}


def collection(ref: ObjectRef) -> str:
    """The path of the collection that the object lives in. Raises KeyError for a kind that has no row here."""
    plural, is_namespaced = _KINDS[(ref.api, ref.kind)]
    root = "/api/v1" if ref.api == "v1" else f"/apis/{ref.api}"
    return f"{root}/namespaces/{ref.namespace}/{plural}" if is_namespaced else f"{root}/{plural}"


def address(ref: ObjectRef, subresource: str = "") -> str:
    """The path of the object, or of its subresource."""
    return f"{collection(ref)}/{ref.name}" + (f"/{subresource}" if subresource else "")
