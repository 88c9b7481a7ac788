"""The `scale` subresource of built-in workloads and custom resources."""

from typing import Any

from demo.lookalikes.kubernetes.cluster import Cluster
from demo.lookalikes.kubernetes.errors import bad_request, invalid, stale
from demo.lookalikes.kubernetes.kinds import Kind
from demo.lookalikes.kubernetes.objects import Json, dig, metadata, with_value
from demo.lookalikes.kubernetes.requests import ResourceRequest
from demo.lookalikes.kubernetes.selectors import selector_text


def _paths(kind: Kind) -> tuple[tuple[str, ...], tuple[str, ...]]:
    spec, status, _ = kind.scale_paths
    if not kind.custom:
        return ("spec", "replicas"), ("status", "replicas")
    return tuple(spec.strip(".").split(".")), tuple(status.strip(".").split("."))


def read_scale(kind: Kind, tree: Json) -> Json:
    """Return the object's `autoscaling/v1 Scale`."""
    desired, current = _paths(kind)
    meta = metadata(tree)
    status: Json = {"replicas": dig(tree, *current) or 0}
    if kind.custom:
        selector = dig(tree, *kind.scale_paths[2].strip(".").split(".")) if kind.scale_paths[2] else ""
    else:
        selector = selector_text(dig(tree, "spec", "selector"))
    if selector:
        status["selector"] = selector
    copied = ("name", "namespace", "uid", "resourceVersion", "creationTimestamp")
    replicas = dig(tree, *desired)
    return {
        "kind": "Scale",
        "apiVersion": "autoscaling/v1",
        "metadata": {key: meta[key] for key in copied if key in meta},
        "spec": {} if not replicas else {"replicas": replicas},
        "status": status,
    }


def write_scale(cluster: Cluster, request: ResourceRequest, body: Any, change: Any) -> Json:
    """Set the replicas from a Scale or a patch of one, or refuse with 409 (stale) or 422 (negative)."""
    kind = request.kind
    old = cluster.get(kind, request.namespace, request.name)
    scale = read_scale(kind, old.tree)
    new = body if change is None else change(scale)
    if not isinstance(new, dict) or not isinstance(dig(new, "spec") or {}, dict):
        raise bad_request("the request body holds no Scale")
    version = dig(new, "metadata", "resourceVersion")
    if version not in (None, "", str(old.version)):
        raise stale(kind.plural, request.name, kind.group)
    replicas = dig(new, "spec", "replicas") or 0
    if not isinstance(replicas, int):
        raise bad_request('Scale in version "v1" cannot be handled as a Scale: json: cannot unmarshal into Go struct '
                          "field ScaleSpec.spec.replicas of type int32")  # fmt: skip
    if replicas < 0:
        text = f"Invalid value: {replicas}: must be greater than or equal to 0"
        raise invalid("Scale", request.name, "autoscaling", [("spec.replicas", "FieldValueInvalid", text)])
    changed = cluster.update(old, with_value(old.tree, _paths(kind)[0], replicas), dry_run=request.dry_run)
    return read_scale(kind, changed.tree)
