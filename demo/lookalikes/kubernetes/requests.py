"""Requests on resources, parsed from paths and queries."""

from dataclasses import dataclass

from demo.lookalikes.kubernetes.authorization import Attributes
from demo.lookalikes.kubernetes.errors import invalid, no_such_path
from demo.lookalikes.kubernetes.kinds import Kind, Kinds

_VERBS = {"POST": "create", "PUT": "update", "PATCH": "patch"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceRequest:
    """A request on a resource. `verb` is RBAC's; `subresource` is "" for the object itself."""

    kind: Kind
    verb: str
    namespace: str
    name: str
    subresource: str
    query: dict[str, str]
    dry_run: bool

    @property
    def resource(self) -> str:
        """Return the resource as RBAC rules name it: `pods` or `pods/log`."""
        return f"{self.kind.plural}/{self.subresource}" if self.subresource else self.kind.plural


def read_request(
    kinds: Kinds, method: str, path: str, query: dict[str, str], dry_runs: list[str]
) -> ResourceRequest:
    """Return the parsed request, or refuse an unknown path with 404 and an invalid `dryRun` with 422."""
    if (split := _split(path)) is None:
        raise no_such_path()
    group, version, namespace, rest = split
    kind = kinds.at(group, version, rest[0])
    if kind is None or len(rest) > 3 or (namespace and not kind.namespaced):
        raise no_such_path()
    name = rest[1] if len(rest) > 1 else ""
    subresource = rest[2] if len(rest) > 2 else ""
    if (subresource and subresource not in kind.subresources) or (name and kind.namespaced and not namespace):
        raise no_such_path()
    return ResourceRequest(
        kind=kind,
        verb=_verb(method, name, query),
        namespace=namespace,
        name=name,
        subresource=subresource,
        query=query,
        dry_run=dry_run_of(dry_runs),
    )


def wanted_attributes(method: str, path: str, query: dict[str, str]) -> Attributes | None:
    """Return what a request on a resource wants, also on one that is not served; None for another path."""
    if (split := _split(path)) is None:
        return None
    group, _, namespace, (plural, *rest) = split
    name, subresource = [*rest, "", ""][:2]
    resource = f"{plural}/{subresource}" if subresource else plural
    verb = _verb(method, name, query)
    return Attributes(verb=verb, group=group, resource=resource, namespace=namespace, name=name)


def _split(path: str) -> tuple[str, str, str, list[str]] | None:
    """Return the group, the version, the namespace, and the rest of a resource's path, which begins with its plural."""
    parts = [part for part in path.split("/") if part]
    if parts[:1] == ["api"] and len(parts) > 2:
        group, version, rest = "", parts[1], parts[2:]
    elif parts[:1] == ["apis"] and len(parts) > 3:
        group, version, rest = parts[1], parts[2], parts[3:]
    else:
        return None
    if rest[0] == "namespaces" and len(rest) > 2 and rest[2] not in ("status", "finalize"):
        return group, version, rest[1], rest[2:]
    return group, version, "", rest


def _verb(method: str, name: str, query: dict[str, str]) -> str:
    if method in ("GET", "HEAD"):
        if query.get("watch") in ("1", "true"):
            return "watch"
        return "get" if name else "list"
    if method == "DELETE":
        return "delete" if name else "deletecollection"
    return _VERBS[method]


def dry_run_of(values: list[str]) -> bool:
    """Return whether this is a dry run, or refuse any value but `All` with 422."""
    for value in values:
        if value != "All":
            shown = "[" + ", ".join(f'"{v}"' for v in values) + "]"
            text = f'Unsupported value: {shown}: supported values: "All"'
            raise invalid("CreateOptions", "", "meta.k8s.io", [("dryRun", "FieldValueNotSupported", text)])
    return bool(values)
