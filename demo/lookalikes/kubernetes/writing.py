"""This file answers requests that write: it reads bodies and patches and calls the verb that is meant."""

from __future__ import annotations

from typing import Any

import msgspec
import yaml

from demo.lookalikes.kubernetes.authorization import User
from demo.lookalikes.kubernetes.cluster import Cluster
from demo.lookalikes.kubernetes.deletion import Deletion, deletion_from
from demo.lookalikes.kubernetes.errors import RefusedError, bad_request
from demo.lookalikes.kubernetes.eviction import evict
from demo.lookalikes.kubernetes.listing import page
from demo.lookalikes.kubernetes.objects import Json, decode, dig, encode, metadata, name_of, namespace_of
from demo.lookalikes.kubernetes.patches import json_patch, merge_patch, strategic_merge_patch
from demo.lookalikes.kubernetes.requests import Asked, dry_run_of
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
    """Return the tree of a request's body; refuses with 400 or 415."""
    if not text:
        return None
    if content_type.startswith("application/vnd.kubernetes.protobuf"):
        why = "the body of the request was in an unknown format - accepted media types include: application/json"
        raise RefusedError(415, "UnsupportedMediaType", why)
    try:
        return decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        if content_type.endswith("yaml"):
            return yaml.safe_load(text)
        raise bad_request(f"couldn't get version/kind; json parse error: {error}") from error


def write(cluster: Cluster, asked: Asked, user: User, body: Any, content_type: str) -> Answer:
    """Do what a writing request asks; returns the HTTP status and the body."""
    match asked.verb, asked.subresource:
        case "create", "":
            return 201, _created(cluster, asked, body).whole()
        case "create", "eviction":
            return evict(cluster, asked, body)
        case "create", "binding":
            return _bound(cluster, asked, body)
        case (("update" | "patch"), "scale"):
            change = _patch_of(asked, body, content_type) if asked.verb == "patch" else None
            return 200, encode(write_scale(cluster, asked, body, change))
        case "update", part:
            return 200, _replaced(cluster, asked, body, part).whole()
        case "patch", part:
            return 200, _patched(cluster, asked, body, content_type, part).whole()
        case "delete", "":
            return _deleted(cluster, asked, body)
        case "deletecollection", "":
            return _emptied(cluster, asked, body)
        case _:
            raise _not_allowed()


def _words(asked: Asked, tree: Any) -> Json:
    """Return the body as an object of the kind that the address names; refuses with 400 another kind."""
    if not isinstance(tree, dict):
        raise bad_request("the request body holds no object")
    kind = tree.get("kind", asked.kind.kind)
    version = tree.get("apiVersion", asked.kind.api_version)
    served = {asked.kind.version, *asked.kind.served_as}
    group, _, last = version.rpartition("/")
    if kind != asked.kind.kind or group != asked.kind.group or last not in served:
        if kind != asked.kind.kind:
            raise bad_request(
                f"the object provided is unrecognized: {kind} in {version}, not {asked.kind.kind}"
            )
        expected = asked.kind.api_version
        text = f"the API version in the data ({version}) does not match the expected API version ({expected})"
        raise bad_request(text)
    return tree


def _created(cluster: Cluster, asked: Asked, body: Any) -> Stored:
    if asked.name:
        raise RefusedError(
            405, "MethodNotAllowed", "the server does not allow this method on the requested resource"
        )
    tree = _words(asked, body)
    if asked.query.get("fieldValidation") == "Strict":
        check_known_fields(asked.kind, tree)
    namespace = asked.namespace
    if asked.kind.namespaced and not namespace:
        raise bad_request("an empty namespace may not be set during creation")
    return cluster.create(asked.kind, namespace, tree, dry_run=asked.dry_run)


def _replaced(cluster: Cluster, asked: Asked, body: Any, part: str) -> Stored:
    tree = _words(asked, body)
    if part in ("", "status", "finalize"):
        return cluster.replace(
            asked.kind, asked.namespace, asked.name, tree, dry_run=asked.dry_run, part=part
        )
    raise RefusedError(
        405, "MethodNotAllowed", "the server does not allow this method on the requested resource"
    )


def _patch_of(asked: Asked, body: Any, content_type: str) -> Any:
    """Return the function that a patch stands for; refuses with 415 what the kind does not take."""
    kind = content_type.partition(";")[0].strip()
    apply = _PATCHES.get(kind)
    if apply is None or (asked.kind.custom and apply is strategic_merge_patch):
        accepted = [name for name in _PATCHES if not asked.kind.custom or "strategic" not in name]
        text = (
            "the body of the request was in an unknown format - accepted media types include: "
            f"{', '.join([*accepted, 'application/apply-patch+yaml'])}"
        )
        raise RefusedError(415, "UnsupportedMediaType", text)
    if apply is not json_patch and not isinstance(body, dict):
        raise bad_request("the patch is no object")
    return lambda old: apply(old, body)


def _patched(cluster: Cluster, asked: Asked, body: Any, content_type: str, part: str) -> Stored:
    change = _patch_of(asked, body, content_type)
    kind, namespace, name = asked.kind, asked.namespace, asked.name
    if part == "resize":
        old = cluster.get(kind, namespace, name)
        return cluster.resize(old, check_resize(old.tree, change(old.tree)), dry_run=asked.dry_run)
    if part not in ("", "status"):
        raise RefusedError(
            405, "MethodNotAllowed", "the server does not allow this method on the requested resource"
        )
    if asked.query.get("fieldValidation") == "Strict" and isinstance(body, dict):
        old = cluster.get(kind, namespace, name)
        check_known_fields(kind, change(old.tree), patched=True)
    return cluster.patch(kind, namespace, name, change, dry_run=asked.dry_run, part=part)


def _bound(cluster: Cluster, asked: Asked, body: Any) -> Answer:
    cluster.bind(asked.namespace, asked.name, str(dig(body, "target", "name") or ""), dry_run=asked.dry_run)
    return 201, encode(success())


def success(**details: Any) -> Json:
    """Return a `Status` of success."""
    status: Json = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success"}
    return {**status, "details": details} if details else {**status, "code": 201}


def _deleted(cluster: Cluster, asked: Asked, body: Any) -> Answer:
    how = deletion_from(body, asked.query)
    dry_run = asked.dry_run or dry_run_of((body or {}).get("dryRun") or [])
    last, gone = cluster.delete(asked.kind, asked.namespace, asked.name, how, dry_run=dry_run)
    if not gone or asked.kind.returns_deleted:
        return 200, last.whole()
    meta = metadata(last.tree)
    about = {"name": meta["name"], "group": asked.kind.group, "kind": asked.kind.plural, "uid": meta["uid"]}
    return 200, encode(success(**{key: value for key, value in about.items() if value}))


def _emptied(cluster: Cluster, asked: Asked, body: Any) -> Answer:
    how = deletion_from(body, asked.query)
    dry_run = asked.dry_run or dry_run_of((body or {}).get("dryRun") or [])
    found = page(cluster.store, asked)
    how = Deletion(grace=how.grace, propagation=how.propagation)
    ended = [
        cluster.delete(asked.kind, namespace_of(s.tree), name_of(s.tree), how, dry_run=dry_run)[0]
        for s in found.items
    ]
    meta = {"resourceVersion": str(cluster.store.version)}
    head = encode({"kind": f"{asked.kind.kind}List", "apiVersion": asked.kind.api_version, "metadata": meta})
    return 200, head[:-1] + b',"items":[' + b",".join(s.item for s in ended) + b"]}"
