"""Authentication by tokens and impersonation, and authorization by the RBAC objects in the store."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from demo.lookalikes.kubernetes.errors import RefusedError, bad_request
from demo.lookalikes.kubernetes.kinds import Kinds
from demo.lookalikes.kubernetes.objects import Json, name_of, namespace_of
from demo.lookalikes.kubernetes.store import Store

MASTERS = "system:masters"
AUTHENTICATED = "system:authenticated"


@dataclass(frozen=True, slots=True)
class User:
    """The user of a request, by token or by impersonation."""

    name: str
    groups: tuple[str, ...] = ()
    uid: str = field(default="", compare=False)


ANONYMOUS = User("system:anonymous", ("system:unauthenticated",))


@dataclass(frozen=True, slots=True, kw_only=True)
class Attributes:
    """What a request does, in the words of RBAC. With a `path` it is not on a resource."""

    verb: str
    group: str = ""
    resource: str = ""  # with its subresource: pods/log
    namespace: str = ""
    name: str = ""
    path: str = ""

    def scope(self) -> str:
        return f'in the namespace "{self.namespace}"' if self.namespace else "at the cluster scope"


@dataclass(frozen=True, slots=True)
class Decision:
    """Whether a request is allowed, with the reason as in a review ("" for a denial)."""

    allowed: bool
    reason: str = ""


class Authorizer:
    """RBAC over the roles and bindings that are in the store."""

    def __init__(self, store: Store, kinds: Kinds) -> None:
        self._store = store
        self._kinds = kinds

    def decide(self, user: User, attributes: Attributes) -> Decision:
        """Decide whether the user may do it, and name the binding that allows it."""
        if MASTERS in user.groups:
            return Decision(True)
        for binding in self._bindings(attributes.namespace):
            if not any(
                _names(subject, user, namespace_of(binding)) for subject in binding.get("subjects") or ()
            ):
                continue
            role = self._role(binding)
            if role is not None and any(_permits(rule, attributes) for rule in role.get("rules") or ()):
                subject = next(s for s in binding["subjects"] if _names(s, user, namespace_of(binding)))
                return Decision(True, _reason(binding, subject))
        return Decision(False)

    def _bindings(self, namespace: str) -> Iterator[Json]:
        for stored in self._store.all(self._kinds.named("clusterrolebindings")):
            yield stored.tree
        if namespace:
            for stored in self._store.all(self._kinds.named("rolebindings"), namespace):
                yield stored.tree

    def _role(self, binding: Json) -> Json | None:
        reference = binding.get("roleRef") or {}
        plural = "clusterroles" if reference.get("kind") == "ClusterRole" else "roles"
        namespace = "" if plural == "clusterroles" else namespace_of(binding)
        found = self._store.get(self._kinds.named(plural), namespace, reference.get("name", ""))
        return found.tree if found else None


def _names(subject: Json, user: User, namespace: str) -> bool:
    match subject.get("kind"):
        case "User":
            return bool(subject["name"] == user.name)
        case "Group":
            return subject["name"] in user.groups
        case "ServiceAccount":
            account = f"{subject.get('namespace') or namespace}:{subject['name']}"
            return user.name == f"system:serviceaccount:{account}"
        case _:
            return False


def _permits(rule: Json, attributes: Attributes) -> bool:
    verbs = rule.get("verbs") or ()
    if attributes.verb not in verbs and "*" not in verbs:
        return False
    if attributes.path:
        urls = rule.get("nonResourceURLs") or ()
        return any(
            url == attributes.path or (url.endswith("*") and attributes.path.startswith(url[:-1]))
            for url in urls
        )
    groups, resources = rule.get("apiGroups") or (), rule.get("resources") or ()
    if attributes.group not in groups and "*" not in groups:
        return False
    _, _, subresource = attributes.resource.partition("/")
    if not ({attributes.resource, "*"} & set(resources)) and not (
        subresource and f"*/{subresource}" in resources
    ):
        return False
    names = rule.get("resourceNames") or ()
    return not names or (bool(attributes.name) and attributes.name in names)


def _reason(binding: Json, subject: Json) -> str:
    reference = binding["roleRef"]
    name = f"{subject['namespace']}/{subject['name']}" if subject.get("namespace") else subject["name"]
    source = f"{namespace_of(binding)}/{name_of(binding)}" if namespace_of(binding) else name_of(binding)
    kind = "RoleBinding" if namespace_of(binding) else "ClusterRoleBinding"
    return (
        f'RBAC: allowed by {kind} "{source}" of {reference["kind"]} "{reference["name"]}" to '
        f'{subject["kind"]} "{name}"'
    )


def refused(user: User, attributes: Attributes) -> RefusedError:
    """Return the 403 for these attributes, in the real server's words."""
    if attributes.path:
        text = f'User "{user.name}" cannot {attributes.verb} path "{attributes.path}"'
        return RefusedError(403, "Forbidden", f"forbidden: {text}", details={})
    plural, _, _ = attributes.resource.partition("/")
    qualified = f"{plural}.{attributes.group}" if attributes.group else plural
    subject = f'{qualified} "{attributes.name}"' if attributes.name else qualified
    text = (
        f'{subject} is forbidden: User "{user.name}" cannot {attributes.verb} '
        f'resource "{attributes.resource}" in API group "{attributes.group}" {attributes.scope()}'
    )
    details = {key: value for key, value in
               (("name", attributes.name), ("group", attributes.group), ("kind", plural)) if value}  # fmt: skip
    return RefusedError(403, "Forbidden", text, details=details)


def token_user(tokens: Mapping[str, User], header: str | None) -> User:
    """Return the user of an Authorization header, or refuse an unknown token with 401."""
    if not header:
        return ANONYMOUS
    scheme, _, token = header.partition(" ")
    user = tokens.get(token.strip()) if scheme.lower() == "bearer" else None
    if user is None:
        raise RefusedError(401, "Unauthorized", "Unauthorized")
    return User(user.name, tuple(dict.fromkeys((*user.groups, AUTHENTICATED))), user.uid)


def impersonated(authorizer: Authorizer, user: User, headers: list[tuple[str, str]]) -> User:
    """Return the user that the headers impersonate, or refuse with 403 when that is not allowed."""
    requested = [(name.lower(), value) for name, value in headers if name.lower().startswith("impersonate-")]
    if not requested:
        return user
    names = [value for name, value in requested if name == "impersonate-user"]
    groups = tuple(value for name, value in requested if name == "impersonate-group")
    if not names or not names[0]:
        raise bad_request(f"requested {requested} without impersonating a user name")
    wanted: list[Attributes] = []
    if names[0].startswith("system:serviceaccount:") and names[0].count(":") == 3:
        _, _, namespace, account = names[0].split(":")
        wanted.append(
            Attributes(verb="impersonate", resource="serviceaccounts", namespace=namespace, name=account)
        )
        groups = groups or ("system:serviceaccounts", f"system:serviceaccounts:{namespace}")
    else:
        wanted.append(Attributes(verb="impersonate", resource="users", name=names[0]))
        wanted += [Attributes(verb="impersonate", resource="groups", name=group) for group in groups]
    for name, value in requested:
        if name.startswith("impersonate-extra-"):
            extra = f"userextras/{name.removeprefix('impersonate-extra-')}"
            wanted.append(
                Attributes(verb="impersonate", group="authentication.k8s.io", resource=extra, name=value)
            )
        elif name == "impersonate-uid":
            wanted.append(
                Attributes(verb="impersonate", group="authentication.k8s.io", resource="uids", name=value)
            )
    for attributes in wanted:
        if not authorizer.decide(user, attributes).allowed:
            raise refused(user, attributes)
    return User(names[0], tuple(dict.fromkeys((*groups, AUTHENTICATED))))
