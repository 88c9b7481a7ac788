"""Discovery documents: the versions, groups and resources that are served."""

from demo.lookalikes.kubernetes.errors import no_such_path
from demo.lookalikes.kubernetes.kinds import Kind, Kinds
from demo.lookalikes.kubernetes.objects import Json
from demo.lookalikes.kubernetes.reviews import REVIEWS

VERSION: Json = {
    "major": "1",
    "minor": "36",
    "gitVersion": "v1.36.3",
    "gitCommit": "",
    "gitTreeState": "clean",
    "buildDate": "2026-08-12T00:00:00Z",
    "goVersion": "go1.26.0",
    "compiler": "gc",
    "platform": "linux/amd64",
}

# subresource -> group, version and kind of its objects ("" for those of the resource), and its verbs
_SUBRESOURCES: dict[str, tuple[str, str, str, tuple[str, ...]]] = {
    "status": ("", "", "", ("get", "patch", "update")),
    "finalize": ("", "", "", ("update",)),
    "log": ("", "", "Pod", ("get",)),
    "exec": ("", "", "PodExecOptions", ("create", "get")),
    "scale": ("autoscaling", "v1", "Scale", ("get", "patch", "update")),
    "eviction": ("policy", "v1", "Eviction", ("create",)),
    "binding": ("", "", "Binding", ("create",)),
    "resize": ("", "", "Pod", ("get", "patch", "update")),
    "ephemeralcontainers": ("", "", "Pod", ("get", "patch", "update")),
}


def discovered(kinds: Kinds, path: str) -> Json:
    """Return the discovery document at a path, or refuse with 404."""
    parts = [part for part in path.split("/") if part]
    groups = kinds.groups()
    for group, version, _ in REVIEWS:
        groups.setdefault(group, {}).setdefault(version, [])
    match parts:
        case ["api"]:
            return {"kind": "APIVersions", "versions": ["v1"], "serverAddressByClientCIDRs": []}
        case ["apis"]:
            named = [_group(group, versions) for group, versions in sorted(groups.items()) if group]
            return {"kind": "APIGroupList", "apiVersion": "v1", "groups": named}
        case ["api", version] if version in groups[""]:
            return _resources("", version, groups[""][version])
        case ["apis", group] if group in groups:
            return {"kind": "APIGroup", "apiVersion": "v1", **_group(group, groups[group])}
        case ["apis", group, version] if version in groups.get(group, {}):
            return _resources(group, version, groups[group][version])
    raise no_such_path()


def _group(group: str, versions: dict[str, list[Kind]]) -> Json:
    named = [{"groupVersion": f"{group}/{version}", "version": version} for version in sorted(versions)]
    stored = {kind.version for kinds in versions.values() for kind in kinds}
    preferred = next((entry for entry in named if entry["version"] in stored), named[0])
    return {"name": group, "versions": named, "preferredVersion": preferred}


def _resources(group: str, version: str, kinds: list[Kind]) -> Json:
    found: list[Json] = []
    for kind in kinds:
        row: Json = {
            "name": kind.plural,
            "singularName": kind.kind.lower(),
            "namespaced": kind.namespaced,
            "kind": kind.kind,
            "verbs": list(kind.verbs),
        }
        if kind.short:
            row["shortNames"] = list(kind.short)
        if kind.plural in (
            "pods",
            "services",
            "deployments",
            "replicasets",
            "statefulsets",
            "daemonsets",
            "jobs",
        ):
            row["categories"] = ["all"]
        found.append(row)
        for name in sorted(kind.subresources):
            sub_group, sub_version, sub_kind, verbs = _SUBRESOURCES[name]
            part: Json = {
                "name": f"{kind.plural}/{name}",
                "singularName": "",
                "namespaced": kind.namespaced,
                "kind": sub_kind or kind.kind,
                "verbs": list(verbs),
            }
            if sub_group:
                part |= {"group": sub_group, "version": sub_version}
            found.append(part)
    for (review_group, review_version, plural), name in REVIEWS.items():
        if (review_group, review_version) == (group, version):
            found.append({"name": plural, "singularName": name.lower(), "namespaced": False, "kind": name,
                          "verbs": ["create"]})  # fmt: skip
    return {
        "kind": "APIResourceList",
        "apiVersion": "v1",
        "groupVersion": f"{group}/{version}" if group else version,
        "resources": sorted(found, key=lambda row: str(row["name"])),
    }
