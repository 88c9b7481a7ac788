"""Objects of the histories: three nodes, the DNS, and a StatefulSet that writes to a volume."""

from typing import Any

from commands.core.cordoned_nodes import BY, UNTIL
from tests.support.yard import a_node_tree

NODES = ("gpu-a01", "gpu-a02", "gpu-b01")


def is_ours(node: dict[str, Any] | None) -> bool:
    return node is not None and BY in (node["metadata"].get("annotations") or {})


def stands(node: dict[str, Any] | None) -> bool:
    return node is not None and bool(node["spec"].get("unschedulable")) and is_ours(node)


def until_of(node: dict[str, Any]) -> str:
    found: str = (node["metadata"].get("annotations") or {}).get(UNTIL, "")
    return found


def bare_node(name: str) -> dict[str, Any]:
    return {**a_node_tree(name), "spec": {}}


def workloads() -> list[tuple[str, dict[str, Any]]]:
    """The DNS, and a StatefulSet that writes to a volume from the first node."""
    claim = {"volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "ckpt"}}]}
    pod = {"containers": [{"name": "main", "image": "i"}], **claim}
    labels = {"app": "samples"}
    owner = {
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "name": "samples",
        "uid": "u",
        "controller": True,
    }
    csi = {"driver": "rook-ceph.rbd.csi.ceph.com", "volumeHandle": "h-7", "volumeAttributes": {}}
    volume = {"accessModes": ["ReadWriteOnce"], "storageClassName": "rbd"}
    return [
        (
            "deployments",
            {
                "apiVersion": "apps/v1",
                "kind": "Deployment",
                "metadata": {"name": "coredns", "namespace": "kube-system"},
                "spec": {
                    "replicas": 2,
                    "selector": {"matchLabels": {"k8s-app": "kube-dns"}},
                    "template": {
                        "metadata": {"labels": {"k8s-app": "kube-dns"}},
                        "spec": pod | {"volumes": []},
                    },
                },
                "status": {"readyReplicas": 2},
            },
        ),
        (
            "statefulsets",
            {
                "apiVersion": "apps/v1",
                "kind": "StatefulSet",
                "metadata": {"name": "samples", "namespace": "vision"},
                "spec": {
                    "replicas": 1,
                    "selector": {"matchLabels": labels},
                    "template": {"metadata": {"labels": labels}, "spec": pod},
                },
                "status": {"readyReplicas": 1},
            },
        ),
        (
            "pods",
            {
                "apiVersion": "v1",
                "kind": "Pod",
                "metadata": {
                    "name": "samples-0",
                    "namespace": "vision",
                    "labels": labels,
                    "ownerReferences": [owner],
                },
                "spec": {**pod, "nodeName": NODES[0]},
                "status": {"phase": "Running"},
            },
        ),
        (
            "persistentvolumes",
            {
                "apiVersion": "v1",
                "kind": "PersistentVolume",
                "metadata": {"name": "pv-ckpt"},
                "spec": {**volume, "csi": csi, "claimRef": {"namespace": "vision", "name": "ckpt"}},
            },
        ),
        (
            "persistentvolumeclaims",
            {
                "apiVersion": "v1",
                "kind": "PersistentVolumeClaim",
                "metadata": {"name": "ckpt", "namespace": "vision"},
                "spec": {**volume, "volumeName": "pv-ckpt"},
            },
        ),
    ]
