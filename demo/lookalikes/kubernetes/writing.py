"""Requests that write: bodies and patches are parsed and passed to the verbs of the cluster."""

from typing import Any

import msgspec
import yaml

from demo.lookalikes.kubernetes.authorization import User
from demo.lookalikes.kubernetes.cluster import Cluster
from demo.lookalikes.kubernetes.deletion import DeleteOptions, delete_options_from
from demo.lookalikes.kubernetes.ephemeral import with_ephemeral_containers
from demo.lookalikes.kubernetes.errors import RefusedError, bad_request
from demo.lookalikes.kubernetes.eviction import evict
from demo.lookalikes.kubernetes.listing import page
from demo.lookalikes.kubernetes.objects import Json, decode, dig, encode, metadata, name_of, namespace_of
from demo.lookalikes.kubernetes.patches import json_patch, merge_patch, strategic_merge_patch
from demo.lookalikes.kubernetes.requests import ResourceRequest, dry_run_of
from demo.lookalikes.kubernetes.resizing import check_resize
from demo.lookalikes.kubernetes.scaling import write_scale
from demo.lookalikes.kubernetes.store import Stored
from demo.lookalikes.kubernetes.strictness import check_known_fields

Answer = tuple[int, bytes]

_PATCHES = {
    "application/json-patch+json": json_patch,
    "application/merge-patch+json": merge_patch,
    "application/strategic-merge-patch+json": strategic_merge_patch,
}


def _not_allowed() -> RefusedError:
    return RefusedError(
        405, "MethodNotAllowed", "the server does not allow this method on the requested resource"
    )


def read_body(text: bytes, content_type: str) -> Any:
    """Return the tree of a request's body, or refuse with 400 or 415."""
    if not text:
        return None
    if content_type.startswith("application/vnd.kubernetes.protobuf"):
        message = "the body of the request was in an unknown format - accepted media types include: application/json"
        raise RefusedError(415, "UnsupportedMediaType", message)
    try:
        return decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        if content_type.endswith("yaml"):
            return yaml.safe_load(text)
        raise bad_request(f"couldn't get version/kind; json parse error: {error}") from error


def write(cluster: Cluster, request: ResourceRequest, user: User, body: Any, content_type: str) -> Answer:
    """Perform a write request, and return the HTTP status and the body."""
    match request.verb, request.subresource:
        case "create", "":
            return 201, _created(cluster, request, body).whole()
        case "create", "eviction":
            return evict(cluster, request, body)
        case "create", "binding":
            return _bound(cluster, request, body)
        case (("update" | "patch"), "scale"):
            change = _patch_of(request, body, content_type) if request.verb == "patch" else None
            return 200, encode(write_scale(cluster, request, body, change))
        case "update", part:
            return 200, _replaced(cluster, request, body, part).whole()
        case "patch", part:
            return 200, _patched(cluster, request, body, content_type, part).whole()
        case "delete", "":
            return _deleted(cluster, request, body)
        case "deletecollection", "":
            return _deleted_collection(cluster, request, body)
        case _:
            raise _not_allowed()


def _checked_object(request: ResourceRequest, tree: Any) -> Json:
    """Return the body if it is an object of the kind in the address, or refuse with 400."""
    if not isinstance(tree, dict):
        raise bad_request("the request body holds no object")
    kind = tree.get("kind", request.kind.kind)
    version = tree.get("apiVersion", request.kind.api_version)
    served = {request.kind.version, *request.kind.served_as}
    group, _, last = version.rpartition("/")
    if kind != request.kind.kind or group != request.kind.group or last not in served:
        if kind != request.kind.kind:
            raise bad_request(
                f"the object provided is unrecognized: {kind} in {version}, not {request.kind.kind}"
            )
        expected = request.kind.api_version
        text = f"the API version in the data ({version}) does not match the expected API version ({expected})"
        raise bad_request(text)
    return tree


def _created(cluster: Cluster, request: ResourceRequest, body: Any) -> Stored:
    if request.name:
        raise RefusedError(
            405, "MethodNotAllowed", "the server does not allow this method on the requested resource"
        )
    tree = _checked_object(request, body)
    if request.query.get("fieldValidation") == "Strict":
        check_known_fields(request.kind, tree)
    namespace = request.namespace
    if request.kind.namespaced and not namespace:
        raise bad_request("an empty namespace may not be set during creation")
    return cluster.create(request.kind, namespace, tree, dry_run=request.dry_run)


def _replaced(cluster: Cluster, request: ResourceRequest, body: Any, part: str) -> Stored:
    tree = _checked_object(request, body)
    if part in ("", "status", "finalize"):
        return cluster.replace(
            request.kind, request.namespace, request.name, tree, dry_run=request.dry_run, part=part
        )
    raise RefusedError(
        405, "MethodNotAllowed", "the server does not allow this method on the requested resource"
    )


def _patch_of(request: ResourceRequest, body: Any, content_type: str) -> Any:
    """Return the patch as a function of the old object, or refuse with 415 a type that the kind does not support."""
    kind = content_type.partition(";")[0].strip()
    apply = _PATCHES.get(kind)
    if apply is None or (request.kind.custom and apply is strategic_merge_patch):
        accepted = [name for name in _PATCHES if not request.kind.custom or "strategic" not in name]
        text = (
            "the body of the request was in an unknown format - accepted media types include: "
            f"{', '.join([*accepted, 'application/apply-patch+yaml'])}"
        )
        raise RefusedError(415, "UnsupportedMediaType", text)
    if apply is not json_patch and not isinstance(body, dict):
        raise bad_request("the patch is no object")
    return lambda old: apply(old, body)


def _patched(cluster: Cluster, request: ResourceRequest, body: Any, content_type: str, part: str) -> Stored:
    change = _patch_of(request, body, content_type)
    kind, namespace, name = request.kind, request.namespace, request.name
    if part == "resize":
        old = cluster.get(kind, namespace, name)
        return cluster.resize(old, check_resize(old.tree, change(old.tree)), dry_run=request.dry_run)
    if part == "ephemeralcontainers":
        old = cluster.get(kind, namespace, name)
        added = with_ephemeral_containers(old.tree, change(old.tree))
        return cluster.resize(old, added, dry_run=request.dry_run)
    if part not in ("", "status"):
        raise RefusedError(
            405, "MethodNotAllowed", "the server does not allow this method on the requested resource"
        )
    if request.query.get("fieldValidation") == "Strict" and isinstance(body, dict):
        old = cluster.get(kind, namespace, name)
        check_known_fields(kind, change(old.tree), patched=True)
    return cluster.patch(kind, namespace, name, change, dry_run=request.dry_run, part=part)


def _bound(cluster: Cluster, request: ResourceRequest, body: Any) -> Answer:
    cluster.bind(
        request.namespace, request.name, str(dig(body, "target", "name") or ""), dry_run=request.dry_run
    )
    return 201, encode(success())


def success(**details: Any) -> Json:
    """Return a `Status` of success."""
    status: Json = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success"}
    return {**status, "details": details} if details else {**status, "code": 201}


def _deleted(cluster: Cluster, request: ResourceRequest, body: Any) -> Answer:
    options = delete_options_from(body, request.query)
    dry_run = request.dry_run or dry_run_of((body or {}).get("dryRun") or [])
    last, gone = cluster.delete(request.kind, request.namespace, request.name, options, dry_run=dry_run)
    if not gone or request.kind.returns_deleted:
        return 200, last.whole()
    meta = metadata(last.tree)
    details = {
        "name": meta["name"],
        "group": request.kind.group,
        "kind": request.kind.plural,
        "uid": meta["uid"],
    }
    return 200, encode(success(**{key: value for key, value in details.items() if value}))


def _deleted_collection(cluster: Cluster, request: ResourceRequest, body: Any) -> Answer:
    options = delete_options_from(body, request.query)
    dry_run = request.dry_run or dry_run_of((body or {}).get("dryRun") or [])
    found = page(cluster.store, request)
    options = DeleteOptions(grace=options.grace, propagation=options.propagation)
    deleted = [
        cluster.delete(request.kind, namespace_of(s.tree), name_of(s.tree), options, dry_run=dry_run)[0]
        for s in found.items
    ]
    meta = {"resourceVersion": str(cluster.store.version)}
    head = encode(
        {"kind": f"{request.kind.kind}List", "apiVersion": request.kind.api_version, "metadata": meta}
    )
    return 200, head[:-1] + b',"items":[' + b",".join(s.item for s in deleted) + b"]}"
