"""Cached objects for tests, parsed from the API's JSON so that parsing is tested too."""

import json
from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, TypeVar

import msgspec

from collectors.check import Found
from collectors.cluster import kinds
from collectors.cluster.base import KubernetesObject
from collectors.cluster.inventory import Inventory
from collectors.cluster.kinds import ResourceKind
from collectors.cluster.object_store import ObjectStore, Snapshot
from collectors.cluster.objects import Node, Pod
from collectors.facts.results import Sample

T = TypeVar("T", bound=KubernetesObject)

NOW = datetime(2026, 11, 21, 3, 0, tzinfo=UTC)


def read(type_: type[T], tree: dict[str, Any]) -> T:
    """Return the object that the cache would parse from this JSON."""
    return msgspec.json.decode(json.dumps(tree), type=type_)


_APIS = {
    "JobSet": "jobset.x-k8s.io/v1alpha2",
    "TrainJob": "trainer.kubeflow.org/v1alpha1",
    "PyTorchJob": "kubeflow.org/v1",
    "TFJob": "kubeflow.org/v1",
    "MPIJob": "kubeflow.org/v1",
    "XGBoostJob": "kubeflow.org/v1",
}


def owned(kind: str, name: str) -> list[dict[str, Any]]:
    return [{"apiVersion": _APIS.get(kind, "v1"), "kind": kind, "name": name, "uid": "u", "controller": True}]


def container(name: str = "main", **requests: str) -> dict[str, Any]:
    return {"name": name, "image": "i", "resources": {"requests": requests, "limits": requests}}


def gpus(count: int | str, resource: str = "nvidia.com/gpu", **more: Any) -> dict[str, Any]:
    """Return a container that requests GPUs only by its limits, as most do."""
    return {"name": "main", "resources": {"limits": {resource: str(count)}}, **more}


def pod(name: str, namespace: str = "default", **parts: Any) -> Pod:
    """Return a pod. `parts`: spec, status and fields of the metadata."""
    spec = {"containers": [container()], **parts.pop("spec", {})}
    status = {"phase": "Running", **parts.pop("status", {})}
    metadata = {"name": name, "namespace": namespace, "uid": f"uid-{namespace}-{name}", **parts}
    return read(Pod, {"metadata": metadata, "spec": spec, "status": status})


def node(name: str, **parts: Any) -> Node:
    """Return a ready node, by default with 8 GPUs. `parts`: spec, status and fields of the metadata."""
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
    """Return an inventory of these objects."""

    found = {
        kind.name: snapshot_of(kind, (thing for thing in things if type(thing) is kind.type), at=NOW)
        for kind in kinds.DEFAULT_KINDS
        if kind.name not in (missing or {})
    }
    return Inventory(as_of=NOW, snapshots=found, missing=missing or {})


def hide(seen: Inventory, *kinds: ResourceKind[Any], reason: str) -> Inventory:
    """Return the inventory without these kinds, which cannot be seen for this reason."""
    names = {kind.name for kind in kinds}
    left = {name: snapshot for name, snapshot in seen.snapshots.items() if name not in names}
    return replace(seen, snapshots=left, missing={**seen.missing, **dict.fromkeys(names, reason)})


def snapshot_of(kind: ResourceKind[T], objects: Iterable[T], *, at: datetime) -> Snapshot[T]:
    """Return the snapshot of these objects."""
    store = ObjectStore(kind)
    for one in objects:
        store.put(one.key, one)
    return store.snapshot(at)


def samples_in(found: Found) -> tuple[Sample, ...]:
    """Return the samples of a check, all at once."""
    return tuple(one for one in found if one is not None)
