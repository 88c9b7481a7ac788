"""The objects that every new cluster has: namespaces, basic roles, priority classes."""

from demo.lookalikes.kubernetes.cluster import Cluster
from demo.lookalikes.kubernetes.objects import Json

_RBAC = "rbac.authorization.k8s.io"
_SELF = [
    {"apiGroups": ["authorization.k8s.io"], "resources": ["selfsubjectaccessreviews", "selfsubjectrulesreviews"],
     "verbs": ["create"]},
    {"apiGroups": ["authentication.k8s.io"], "resources": ["selfsubjectreviews"], "verbs": ["create"]},
]  # fmt: skip
_EVERYTHING = [
    {"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]},
    {"nonResourceURLs": ["*"], "verbs": ["*"]},
]
_ROLES: dict[str, list[Json]] = {
    "cluster-admin": _EVERYTHING,
    "system:basic-user": _SELF,
    "system:discovery": [
        {
            "nonResourceURLs": ["/api", "/api/*", "/apis", "/apis/*", "/version", "/openapi/*"],
            "verbs": ["get"],
        }
    ],
    "view": [
        {
            "apiGroups": [
                "",
                "apps",
                "batch",
                "policy",
                "autoscaling",
                "discovery.k8s.io",
                "networking.k8s.io",
            ],
            "resources": ["*"],
            "verbs": ["get", "list", "watch"],
        }
    ],
}
_BINDINGS = {
    "cluster-admin": "system:masters",
    "system:basic-user": "system:authenticated",
    "system:discovery": "system:authenticated",
}


def create_first_objects(cluster: Cluster) -> None:
    """Create the objects that every new cluster has."""
    kinds = cluster.kinds
    for name in ("default", "kube-system", "kube-public", "kube-node-lease"):
        cluster.create(kinds.named("namespaces"), "", {"metadata": {"name": name}})
    for name, rules in _ROLES.items():
        cluster.create(kinds.named("clusterroles"), "", {"metadata": {"name": name}, "rules": rules})
    for name, group in _BINDINGS.items():
        tree: Json = {
            "metadata": {"name": name},
            "roleRef": {"apiGroup": _RBAC, "kind": "ClusterRole", "name": name},
            "subjects": [{"apiGroup": _RBAC, "kind": "Group", "name": group}],
        }
        cluster.create(kinds.named("clusterrolebindings"), "", tree)
    for name, value in (("system-cluster-critical", 2_000_000_000), ("system-node-critical", 2_000_001_000)):
        cluster.create(kinds.named("priorityclasses"), "", {"metadata": {"name": name}, "value": value})
