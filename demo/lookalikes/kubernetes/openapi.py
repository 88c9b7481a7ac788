"""The part of the OpenAPI schema that kubectl needs: the paths, and that the server validates fields."""

from collections.abc import Sequence

from demo.lookalikes.kubernetes.errors import no_such_path
from demo.lookalikes.kubernetes.kinds import Kind, Kinds
from demo.lookalikes.kubernetes.objects import Json

_PARAMETERS = [
    {"name": name, "in": "query", "schema": {"type": "string"}} for name in ("dryRun", "fieldValidation")
]


def described(kinds: Kinds, parts: Sequence[str]) -> Json:
    """Return the index of `/openapi/v3` or the document of one group and version, or refuse with 404."""
    groups = kinds.groups()
    if not parts:
        paths = [
            f"apis/{group}/{version}" if group else f"api/{version}"
            for group in groups
            for version in groups[group]
        ]
        return {"paths": {path: {"serverRelativeURL": f"/openapi/v3/{path}"} for path in paths}}
    group, version = ("", parts[-1]) if parts[0] == "api" else (parts[1] if len(parts) > 2 else "", parts[-1])
    if version not in groups.get(group, {}):
        raise no_such_path()
    found = {path: item for kind in groups[group][version] for path, item in _paths(kind, version)}
    return {"openapi": "3.0.0", "info": {"title": "Kubernetes", "version": "v1.36.3"}, "paths": found}


def _paths(kind: Kind, version: str) -> list[tuple[str, Json]]:
    root = f"/apis/{kind.group}/{version}" if kind.group else f"/api/{version}"
    collection = (
        f"{root}/namespaces/{{namespace}}/{kind.plural}" if kind.namespaced else f"{root}/{kind.plural}"
    )
    named = {"group": kind.group, "version": version, "kind": kind.kind}

    def operation(action: str) -> Json:
        return {"parameters": _PARAMETERS, "responses": {}, "x-kubernetes-action": action,
                "x-kubernetes-group-version-kind": named}  # fmt: skip

    return [
        (collection, {"post": operation("post")}),
        (f"{collection}/{{name}}", {"put": operation("put"), "patch": operation("patch")}),
    ]
