"""This file makes cached objects for tests, through the API's own JSON so that reading it is tested too."""

import json
from datetime import UTC, datetime
from typing import Any, TypeVar

import msgspec

from collectors.cluster.base import KubernetesObject
from collectors.cluster.inventory import Inventory
from collectors.cluster.objects import Deployment, Job, Namespace, Node, Pod, ReplicaSet, StatefulSet

T = TypeVar("T", bound=KubernetesObject)

NOW = datetime(2026, 11, 21, 3, 0, tzinfo=UTC)


def read(type_: type[T], tree: dict[str, Any]) -> T:
    """The object that the cache would make of this JSON."""
    return msgspec.json.decode(json.dumps(tree), type=type_)


def owned(kind: str, name: str) -> list[dict[str, Any]]:
    return [{"apiVersion": "v1", "kind": kind, "name": name, "uid": "u", "controller": True}]


def container(name: str = "main", **requests: str) -> dict[str, Any]:
    return {"name": name, "image": "i", "resources": {"requests": requests, "limits": requests}}


def gpus(count: int | str, resource: str = "nvidia.com/gpu", **more: Any) -> dict[str, Any]:
    """A container that asks for GPUs by its limits alone, as most do."""
    return {"name": "main", "resources": {"limits": {resource: str(count)}}, **more}


def pod(name: str, namespace: str = "default", **parts: Any) -> Pod:
    """A pod. `parts`: spec, status, and metadata's own fields."""
    spec = {"containers": [container()], **parts.pop("spec", {})}
    status = {"phase": "Running", **parts.pop("status", {})}
    metadata = {"name": name, "namespace": namespace, "uid": f"uid-{namespace}-{name}", **parts}
    return read(Pod, {"metadata": metadata, "spec": spec, "status": status})


def node(name: str, **parts: Any) -> Node:
    """A ready node with 8 GPUs unless told. `parts`: spec, status, and metadata's own fields."""
    devices = {"nvidia.com/gpu": "8"}
    status = {
        "capacity": devices,
        "allocatable": devices,
        "conditions": [{"type": "Ready", "status": "True"}],
        **parts.pop("status", {}),
    }
    tree = {"metadata": {"name": name, **parts}, "status": status}
    if "spec" in parts:
        tree["spec"] = tree["metadata"].pop("spec")
    return read(Node, tree)


def inventory(*things: KubernetesObject, missing: dict[str, str] | None = None) -> Inventory:
    """An inventory of these objects."""

    def of(type_: type[T]) -> dict[str, T]:
        return {thing.key: thing for thing in things if type(thing) is type_}

    return Inventory(
        as_of=NOW,
        nodes=of(Node),
        pods=of(Pod),
        namespaces=of(Namespace),
        deployments=of(Deployment),
        replicasets=of(ReplicaSet),
        statefulsets=of(StatefulSet),
        jobs=of(Job),
        missing=missing or {},
    )
